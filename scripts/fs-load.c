// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps a mount busy for a while, checks every byte it reads back, and in the
 * end compares all files with the server's side. Meant to run while something
 * happens to the connection. A part of the files is written and read with
 * transfers of 1 MiB, as far as the mount allows.
 *
 *	fs-load MOUNT EXPORT SECONDS WORKERS
 *	fs-load MOUNT - SECONDS WORKERS
 *	fs-load verify EXPORT
 *
 * A file EXPORT/enough ends it sooner, and SIGTERM ends the work of a worker,
 * which compares its files then. Where the server's side is elsewhere, the
 * second form says what it must have, "file NAME LENGTH SEED", and the third one
 * reads that there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fs-common.h"

#define FILES	6
#define MIB	(1024 * 1024)
#define SMALL	(300 * 1024)
#define LARGEST	(MIB + SMALL)

static uint8_t want[LARGEST], got[LARGEST];

struct file {
	char name[64];
	uint64_t seed;
	size_t len;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static bool verify(const char *dir, const struct file *f, int flags)
{
	char path[4096];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, f->name);
	fd = open(path, O_RDONLY | flags);
	must(fd >= 0, "%s", path);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must(!fstat(fd, &st));
	must((size_t)st.st_size == f->len, "%s: %lld bytes, not %zu", path,
	     (long long)st.st_size, f->len);
	fill(want, f->len, f->seed);
	if (!read_all(fd, got, f->len, 0) || !compare(want, got, f->len))
		return false;
	must(!close(fd));
	return true;
}

/* One in three has a whole MiB before the rest. */
static size_t some_length(uint64_t *state)
{
	size_t len = 1 + draw(state) % (SMALL - 1);

	return draw(state) % 3 ? len : MIB + len;
}

static bool rewrite(const char *dir, struct file *f, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, f->name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | flags, 0644);
	must(fd >= 0, "%s", path);
	fill(want, f->len, f->seed);
	if (!write_all(fd, want, f->len, 0))
		return false;
	must(!fsync(fd), "%s", path);
	must(!close(fd), "%s", path);
	return true;
}

static bool work(const char *mnt, const char *export, time_t end, int who)
{
	uint64_t state = 0x1234567 + who * 7919;
	struct file files[FILES], *f;
	unsigned long rounds = 0, large = 0;
	char enough[4096];
	int i;

	for (i = 0; i < FILES; i++) {
		snprintf(files[i].name, sizeof(files[i].name), "load-%d-%d", who,
			 i);
		files[i].len = 0;
	}
	snprintf(enough, sizeof(enough), "%s/enough", export);
	while (time(NULL) < end && !stopped && access(enough, F_OK)) {
		f = &files[draw(&state) % FILES];
		if (!f->len || draw(&state) % 3 == 0) {
			f->seed = draw(&state);
			f->len = some_length(&state);
			if (!rewrite(mnt, f, draw(&state) & 1 ? O_DIRECT : 0))
				return false;
		} else if (!verify(mnt, f, draw(&state) & 1 ? O_DIRECT : 0)) {
			return false;
		}
		rounds++;
		large += f->len > MIB;
	}
	for (i = 0; i < FILES; i++) {
		f = &files[i];
		if (!f->len)
			continue;
		if (!verify(mnt, f, 0))
			return false;
		if (!strcmp(export, "-"))
			printf("file %s %zu %" PRIu64 "\n", f->name, f->len, f->seed);
		else if (!verify(export, f, 0))
			return false;
	}
	must(rounds > 0);
	printf("# worker %d: %lu rounds, %lu of 1 MiB\n", who, rounds, large);
	return true;
}

static int verify_all(const char *dir)
{
	struct file f;
	int n = 0;

	while (scanf("file %63s %zu %" SCNu64 "\n", f.name, &f.len, &f.seed) == 3) {
		if (f.len > LARGEST || !verify(dir, &f, 0)) {
			printf("%s: %s\n", f.name, why);
			return 1;
		}
		n++;
	}
	printf("%d files\n", n);
	return n && feof(stdin) ? 0 : 1;
}

int main(int argc, char **argv)
{
	int i, seconds, status, failed = 0, workers;
	time_t end;

	if (argc == 3 && !strcmp(argv[1], "verify"))
		return verify_all(argv[2]);
	seconds = argc == 5 ? atoi(argv[3]) : 0;
	workers = argc == 5 ? atoi(argv[4]) : 0;
	if (seconds < 1 || workers < 1) {
		fprintf(stderr, "usage: %s MOUNT EXPORT SECONDS WORKERS, at least one of each\n",
			argv[0]);
		return 2;
	}
	end = time(NULL) + seconds;
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = stop,
						.sa_flags = SA_RESTART }, NULL);
	for (i = 0; i < workers; i++) {
		pid_t child = fork();

		if (child < 0) {
			perror("fork");
			failed = 1;
		}
		if (child)
			continue;
		if (work(argv[1], argv[2], end, i))
			exit(0);
		printf("# worker %d: %s\n", i, why);
		exit(1);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
