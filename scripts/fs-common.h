/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs that test a mount share: bytes that can be made again, and
 * reads and writes that say what went wrong.
 */
#ifndef FS_COMMON_H
#define FS_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread char why[512];
/* One statement that must hold; the first that does not ends the case. */
#define must(cond, ...) do {						\
	if (!(cond)) {							\
		explain(__LINE__, #cond, errno, "" __VA_ARGS__);	\
		return false;						\
	}								\
} while (0)

__attribute__((format(printf, 4, 5)))
static void explain(int line, const char *cond, int err, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(why, sizeof(why), "line %d: %s (%s) ", line, cond,
		     strerror(err));
	va_start(ap, fmt);
	vsnprintf(why + n, sizeof(why) - n, fmt, ap);
	va_end(ap);
}

static inline uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The same seed gives the same bytes; no two 64-bit words are alike. */
static void fill(uint8_t *p, size_t len, uint64_t seed)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;
	size_t i;

	for (i = 0; i < len; i++) {
		if (!(i & 7))
			draw(&x);
		p[i] = x >> (8 * (i & 7));
	}
}

/* A path below @dir, in one of a few static buffers */
__attribute__((format(printf, 2, 3)))
static char *path(const char *dir, const char *fmt, ...)
{
	static char paths[4][8192];
	static unsigned int turn;
	char *p = paths[turn++ % 4];
	va_list ap;
	int n;

	n = snprintf(p, sizeof(paths[0]), "%s/", dir);
	va_start(ap, fmt);
	vsnprintf(p + n, sizeof(paths[0]) - n, fmt, ap);
	va_end(ap);
	return p;
}

static bool failed;

/* The line of a case, from the one that did not hold if it is not good */
static void verdict(bool good, const char *name)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("FAIL %s: %s\n", name, why);
	fflush(stdout);
	failed |= !good;
}

static bool compare(const uint8_t *want, const uint8_t *got, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		must(want[i] == got[i], "byte %zu of %zu is %#x, not %#x", i,
		     len, got[i], want[i]);
	return true;
}

static bool read_all(int fd, uint8_t *p, size_t len, off_t at)
{
	ssize_t n;

	while (len) {
		n = pread(fd, p, len, at);
		must(n > 0, "%zd at %lld, %zu to go", n, (long long)at, len);
		p += n;
		at += n;
		len -= n;
	}
	return true;
}

static bool write_all(int fd, const uint8_t *p, size_t len, off_t at)
{
	ssize_t n;

	while (len) {
		n = pwrite(fd, p, len, at);
		must(n > 0, "%zd at %lld, %zu to go", n, (long long)at, len);
		p += n;
		at += n;
		len -= n;
	}
	return true;
}

#endif /* FS_COMMON_H */
