// SPDX-License-Identifier: GPL-2.0
/*
 * Puts files through an NFS mount in every way a program can, and compares what
 * comes back: through the mount with its cache dropped, and on the server's
 * side of the export where that is given.
 *
 *	fs-exercise VERSION MOUNT [EXPORT]
 *
 * One line a case: "ok NAME" or "FAIL NAME: why".
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "fs-client.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MIB		(1024 * 1024)
#define ROOM		(8 * MIB)

static const char *mount_dir;
static const char *export_dir;
static const char *version;
static bool quick;	/* fewer sizes, for a guest that is emulated */

/* How the case that runs does its I/O: flags of open(), or a mapping */
static int flags;
#define MAPPED	-1

static const char *client(const char *name)
{
	return path(mount_dir, "%s", name);
}

static const char *server(const char *name)
{
	return path(export_dir, "%s", name);
}

static uint8_t *buffer(size_t len)
{
	/* One byte off alignment: nothing may depend on where data lies. */
	uint8_t *p = aligned_alloc(4096, (len + 2 * 4096) & ~4095ul);

	if (!p) {
		perror("memory");
		exit(2);
	}
	return p;
}

/* The whole file, as seen from one side, is these bytes and nothing else. */
static bool holds(const char *name, int more, const uint8_t *want, size_t len)
{
	uint8_t *got = buffer(len);
	struct stat st;
	bool same;
	int fd;

	fd = open(name, O_RDONLY | more);
	must(fd >= 0, "%s", name);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must(!fstat(fd, &st));
	must((size_t)st.st_size == len, "%s has %lld bytes, not %zu", name,
	     (long long)st.st_size, len);
	same = read_all(fd, got + 1, len, 0) && compare(want, got + 1, len);
	close(fd);
	free(got);
	return same;
}

static bool both_hold(const char *name, const uint8_t *want, size_t len)
{
	if (export_dir && !holds(server(name), 0, want, len))
		return false;
	return holds(client(name), 0, want, len) &&
	       holds(client(name), O_DIRECT, want, len);
}

static const size_t odd_sizes[] = {
	1, 3, 511, 1023, 1024, 4095, 4096, 4097, 8191, 65535, 65536, 65537,
	262145, MIB - 1, MIB, MIB + 1, 3 * MIB + 5,
};

static const size_t odd_offsets[] = { 0, 1, 3, 4095, 4097, 65537 };

static bool odd_io(void)
{
	uint8_t *file = buffer(ROOM), *data;
	size_t i, j, size, offset, end;
	char name[64];
	int fd;

	for (i = 0; i < ARRAY_SIZE(odd_sizes); i++) {
		for (j = 0; j < ARRAY_SIZE(odd_offsets); j += 1 + quick) {
			size = odd_sizes[i];
			offset = odd_offsets[j];
			end = offset + size;
			snprintf(name, sizeof(name), "odd-%zu-%zu", size, offset);
			memset(file, 0, offset);
			fill(file + offset, size, size * 31 + offset);
			data = buffer(size);
			memcpy(data + 1, file + offset, size);

			fd = open(client(name), O_RDWR | O_CREAT | O_TRUNC |
				  (flags == MAPPED ? 0 : flags), 0644);
			must(fd >= 0, "%s", name);
			if (flags == MAPPED) {
				uint8_t *map;

				must(!ftruncate(fd, end));
				map = mmap(NULL, end, PROT_READ | PROT_WRITE,
					   MAP_SHARED, fd, 0);
				must(map != MAP_FAILED);
				memcpy(map + offset, data + 1, size);
				must(!msync(map, end, MS_SYNC));
				munmap(map, end);
			} else if (!write_all(fd, data + 1, size, offset)) {
				return false;
			}
			must(!fsync(fd));
			must(!close(fd));
			free(data);
			if (!both_hold(name, file, end))
				return false;
			must(!unlink(client(name)));
		}
	}
	free(file);
	return true;
}

/* A reader that maps the file sees what was put there on the server's side. */
static bool mmap_read(void)
{
	size_t len = 3 * MIB + 17;
	uint8_t *want = buffer(len), *map;
	int fd;

	fill(want, len, 77);
	fd = open(client("map"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0);
	must(write_all(fd, want, len, 0));
	must(!fsync(fd));
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	must(map != MAP_FAILED);
	if (!compare(want, map, len))
		return false;
	munmap(map, len);
	close(fd);
	free(want);
	return true;
}

static bool whole_file(void)
{
	size_t len = (quick ? 12 : 48) * MIB + 4097, done, n;
	uint8_t *want = buffer(len);
	bool same;
	int fd;

	fill(want, len, flags + 5);
	fd = open(client("whole"), O_WRONLY | O_CREAT | O_TRUNC | flags, 0644);
	must(fd >= 0);
	for (done = 0; done < len; done += n) {
		n = len - done < MIB ? len - done : MIB;
		if (!write_all(fd, want + done, n, done))
			return false;
	}
	must(!close(fd));
	same = both_hold("whole", want, len);
	must(!unlink(client("whole")));
	free(want);
	return same;
}

static bool vectors(void)
{
	static const size_t part[] = { 1, 4095, 7, 8192, 65537, 3, 100000 };
	struct iovec v[ARRAY_SIZE(part)];
	size_t i, len = 0;
	uint8_t *want, *got;
	int fd, pass;

	for (i = 0; i < ARRAY_SIZE(part); i++)
		len += part[i];
	want = buffer(len);
	got = buffer(len);
	fill(want, len, 3);
	for (pass = 0; pass < 2; pass++) {
		fd = open(client("vec"), O_RDWR | O_CREAT | O_TRUNC |
			  (pass ? O_DIRECT : 0), 0644);
		must(fd >= 0);
		for (i = 0, len = 0; i < ARRAY_SIZE(part); len += part[i++])
			v[i] = (struct iovec){ want + len, part[i] };
		must(pwritev(fd, v, ARRAY_SIZE(part), 0) == (ssize_t)len);
		must(!fsync(fd));
		memset(got, 0, len);
		for (i = 0, len = 0; i < ARRAY_SIZE(part); len += part[i++])
			v[i].iov_base = got + len;
		must(preadv(fd, v, ARRAY_SIZE(part), 0) == (ssize_t)len);
		if (!compare(want, got, len))
			return false;
		close(fd);
		if (!both_hold("vec", want, len))
			return false;
	}
	free(want);
	free(got);
	return true;
}

static bool append(void)
{
	uint8_t *want = buffer(ROOM);
	size_t i, len = 0, n;
	int fd;

	fill(want, ROOM, 11);
	unlink(client("append"));
	for (i = 0; i < 40; i++) {
		fd = open(client("append"), O_WRONLY | O_CREAT | O_APPEND, 0644);
		must(fd >= 0);
		n = 1 + i * i * 97;
		must(write(fd, want + len, n) == (ssize_t)n);
		len += n;
		must(!close(fd));
	}
	if (!both_hold("append", want, len))
		return false;
	free(want);
	return true;
}

static bool truncation(void)
{
	static const size_t to[] = { 65537, 4097, 1, 0, 5, 70000, 4096, 300001 };
	uint8_t *want = buffer(ROOM);
	size_t i, len = 200000;
	int fd;

	fill(want, len, 12);
	fd = open(client("trunc"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0);
	must(write_all(fd, want, len, 0));
	for (i = 0; i < ARRAY_SIZE(to); i++) {
		must(!ftruncate(fd, to[i]));
		/* What lies beyond a former end comes back as zeroes. */
		if (to[i] > len)
			memset(want + len, 0, to[i] - len);
		len = to[i];
		if (!both_hold("trunc", want, len))
			return false;
	}
	close(fd);
	free(want);
	return true;
}

static bool write_text(const char *name, const char *text)
{
	int fd = open(client(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	must(fd >= 0, "%s", name);
	must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	must(!close(fd));
	return true;
}

static bool text_is(const char *name, const char *text)
{
	return both_hold(name, (const uint8_t *)text, strlen(text));
}

static bool renames(void)
{
	struct stat st;

	must(!mkdir(client("d1"), 0755) || errno == EEXIST);
	must(!mkdir(client("d2"), 0755) || errno == EEXIST);
	must(write_text("a", "one"));
	must(write_text("d1/b", "two"));
	must(!rename(client("a"), client("d2/c")));
	must(stat(client("a"), &st) && errno == ENOENT);
	must(text_is("d2/c", "one"));
	must(!rename(client("d2/c"), client("d1/b")));
	must(text_is("d1/b", "one"));
	must(!rename(client("d1"), client("d2/moved")));
	must(text_is("d2/moved/b", "one"));
	must(rename(client("nothing"), client("d2/c")) && errno == ENOENT);
	must(!unlink(client("d2/moved/b")));
	must(!rmdir(client("d2/moved")));
	must(!rmdir(client("d2")));
	return true;
}

static bool symlinks(void)
{
	static const size_t lens[] = { 1, 255, 1023, 2048, 4000, 4095 };
	char target[4097], got[4097], name[32];
	long before;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		snprintf(name, sizeof(name), "link-%zu", lens[i]);
		memset(target, 'a' + i, lens[i]);
		target[lens[i]] = 0;
		must(!symlink(target, client(name)), "of %zu", lens[i]);
		if (export_dir) {
			must(readlink(server(name), got, sizeof(got)) ==
			     (ssize_t)lens[i]);
			must(!memcmp(got, target, lens[i]));
		}
		/* Where it was made, it is known without asking. */
		if (!drop_caches())
			return false;
		before = sent(mount_dir, "READLINK");
		must(readlink(client(name), got, sizeof(got)) ==
		     (ssize_t)lens[i], "of %zu", lens[i]);
		must(!memcmp(got, target, lens[i]));
		must(before >= 0 &&
		     sent(mount_dir, "READLINK") == before + 1, "of %zu",
		     lens[i]);
		must(!unlink(client(name)));
	}
	return true;
}

static bool hard_links(void)
{
	struct stat st;

	must(write_text("first", "shared"));
	must(!link(client("first"), client("second")));
	must(!stat(client("second"), &st));
	must(st.st_nlink == 2);
	must(write_text("second", "changed"));
	must(text_is("first", "changed"));
	must(!unlink(client("first")));
	must(text_is("second", "changed"));
	must(!stat(client("second"), &st) && st.st_nlink == 1);
	must(!unlink(client("second")));
	return true;
}

static bool count_entries(const char *dir, int want)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	d = opendir(dir);
	must(d, "%s", dir);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	must(n == want, "%s: %d", dir, n);
	return true;
}

/* Long names fill many READDIR replies, each of them a large one. */
static bool large_directory(void)
{
	const int entries = quick ? 800 : 2500;
	char name[512];
	int i, fd;

	must(!mkdir(client("many"), 0755));
	for (i = 0; i < entries; i++) {
		snprintf(name, sizeof(name), "many/%0*d", 4 + i % 240, i);
		fd = open(client(name), O_WRONLY | O_CREAT | O_EXCL, 0644);
		must(fd >= 0, "%s", name);
		close(fd);
	}
	if (export_dir && !count_entries(server("many"), entries))
		return false;
	if (!count_entries(client("many"), entries))
		return false;
	for (i = 0; i < entries; i += 2) {
		snprintf(name, sizeof(name), "many/%0*d", 4 + i % 240, i);
		must(!unlink(client(name)), "%s", name);
	}
	if (!count_entries(client("many"), entries / 2))
		return false;
	for (i = 1; i < entries; i += 2) {
		snprintf(name, sizeof(name), "many/%0*d", 4 + i % 240, i);
		must(!unlink(client(name)), "%s", name);
	}
	must(!rmdir(client("many")));
	return true;
}

static bool attributes(void)
{
	struct timespec t[2] = { { 1000000007, 5000 }, { 1200000011, 7000 } };
	struct stat st;

	must(write_text("attr", "x"));
	must(!chmod(client("attr"), 0604));
	must(!chown(client("attr"), 1234, 4321));
	must(!utimensat(AT_FDCWD, client("attr"), t, 0));
	must(!stat(export_dir ? server("attr") : client("attr"), &st));
	must((st.st_mode & 07777) == 0604);
	must(st.st_uid == 1234 && st.st_gid == 4321);
	must(st.st_mtim.tv_sec == 1200000011);
	must(!unlink(client("attr")));
	return true;
}

static bool removed_while_open(void)
{
	uint8_t want[5000], got[5000];
	int fd;

	fill(want, sizeof(want), 9);
	fd = open(client("gone"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0);
	must(write_all(fd, want, sizeof(want), 0));
	must(!unlink(client("gone")));
	must(!fsync(fd));
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must(read_all(fd, got, sizeof(got), 0));
	if (!compare(want, got, sizeof(want)))
		return false;
	must(!close(fd));
	return true;
}

static int try_lock(const char *name, off_t from, off_t len)
{
	struct flock l = { .l_type = F_WRLCK, .l_start = from, .l_len = len };
	pid_t child = fork();
	int fd, status;

	/* Opened here: a close by the holder would drop its own locks. */
	if (!child) {
		fd = open(client(name), O_RDWR);
		_exit(fd < 0 || fcntl(fd, F_SETLK, &l) ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static bool locks(void)
{
	struct flock l = { .l_type = F_WRLCK, .l_start = 100, .l_len = 50 };
	int fd, err;

	must(write_text("lock", "a file with room for locks"));
	fd = open(client("lock"), O_RDWR);
	must(fd >= 0);
	must(!fcntl(fd, F_SETLK, &l));
	err = try_lock("lock", 120, 5);
	must(err == EAGAIN || err == EACCES, "%d", err);
	must(try_lock("lock", 0, 100) == 0);
	must(try_lock("lock", 150, 10) == 0);
	l.l_type = F_RDLCK;
	must(!fcntl(fd, F_SETLK, &l));
	err = try_lock("lock", 149, 5);
	must(err == EAGAIN || err == EACCES, "%d", err);
	l.l_type = F_UNLCK;
	must(!fcntl(fd, F_SETLK, &l));
	must(try_lock("lock", 120, 5) == 0);
	must(!flock(fd, LOCK_EX));
	must(!flock(fd, LOCK_UN));
	close(fd);
	must(!unlink(client("lock")));
	return true;
}

static bool xattrs(void)
{
	static const size_t lens[] = { 1, 3, 255, 1000, 4095, 4097, 8192, 20001,
				       65536 };
	uint8_t *want = buffer(65536), *got = buffer(65536);
	char name[300], list[65536];
	size_t i;
	ssize_t n;

	must(write_text("xattr", "x"));
	/* The tmpfs of 6.1 has none of users, and a mount of it says the same. */
	if (export_dir && setxattr(server("xattr"), "user.probe", "v", 1, 0)) {
		must(errno == EOPNOTSUPP);
		must(setxattr(client("xattr"), "user.probe", "v", 1, 0) &&
		     errno == EOPNOTSUPP);
		printf("# the export has no xattrs of users\n");
		return !unlink(client("xattr"));
	}
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		fill(want, lens[i], i);
		must(!setxattr(client("xattr"), "user.value", want, lens[i], 0),
		     "of %zu", lens[i]);
		memset(got, 0, lens[i]);
		if (export_dir) {
			n = getxattr(server("xattr"), "user.value", got, 65536);
			must(n == (ssize_t)lens[i], "%zd of %zu", n, lens[i]);
			if (!compare(want, got, lens[i]))
				return false;
		}
		memset(got, 0, lens[i]);
		n = getxattr(client("xattr"), "user.value", got, 65536);
		must(n == (ssize_t)lens[i], "%zd of %zu", n, lens[i]);
		if (!compare(want, got, lens[i]))
			return false;
	}
	/* A list of names that fills a large reply. */
	for (i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "user.%0200zu", i);
		must(!setxattr(client("xattr"), name, "v", 1, 0), "%zu", i);
	}
	n = listxattr(client("xattr"), list, sizeof(list));
	must(n >= 60 * 206, "%zd", n);
	must(!removexattr(client("xattr"), "user.value"));
	must(getxattr(client("xattr"), "user.value", got, 65536) < 0 &&
	     errno == ENODATA);
	must(!unlink(client("xattr")));
	free(want);
	free(got);
	return true;
}

/* Version 3 carries these in a side protocol, over the same connection. */
static bool acls(void)
{
	struct { uint32_t version; struct { uint16_t tag, perm; uint32_t id; } e[40]; }
		acl = { .version = 2 }, got;
	const char *name = "system.posix_acl_access";
	int i;
	ssize_t n;

	must(write_text("acl", "x"));
	acl.e[0].tag = 1; acl.e[0].perm = 6; acl.e[0].id = -1;
	for (i = 1; i < 37; i++) {
		acl.e[i].tag = 2;
		acl.e[i].perm = i & 7;
		acl.e[i].id = 1000 + i;
	}
	acl.e[37].tag = 4; acl.e[37].perm = 4; acl.e[37].id = -1;
	acl.e[38].tag = 16; acl.e[38].perm = 7; acl.e[38].id = -1;
	acl.e[39].tag = 32; acl.e[39].perm = 0; acl.e[39].id = -1;
	must(!setxattr(client("acl"), name, &acl, sizeof(acl), 0));
	if (export_dir) {
		n = getxattr(server("acl"), name, &got, sizeof(got));
		must(n == sizeof(got) && !memcmp(&acl, &got, sizeof(got)));
	}
	n = getxattr(client("acl"), name, &got, sizeof(got));
	must(n == sizeof(got) && !memcmp(&acl, &got, sizeof(got)));
	must(!unlink(client("acl")));
	return true;
}

static bool copy_and_holes(void)
{
	uint8_t *want = buffer(ROOM);
	size_t len = 2 * MIB + 3;
	int in, out;
	loff_t pos = 0;

	fill(want, len, 21);
	in = open(client("from"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	out = open(client("to"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(in >= 0 && out >= 0);
	must(write_all(in, want, len, 0));
	must(!fsync(in));
	while ((size_t)pos < len)
		must(copy_file_range(in, &pos, out, NULL, len - pos, 0) > 0);
	must(!fsync(out));
	must(!fallocate(out, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096,
			65536));
	memset(want + 4096, 0, 65536);
	must(lseek(out, 0, SEEK_HOLE) == 4096);
	close(in);
	close(out);
	if (!both_hold("to", want, len))
		return false;
	free(want);
	return true;
}

static const struct {
	const char *name;
	bool (*run)(void);
	const char *versions;	/* NULL: all of them */
	int flags;
} cases[] = {
	{ "odd sizes at odd offsets, buffered", odd_io, NULL },
	{ "odd sizes at odd offsets, O_DIRECT", odd_io, NULL, O_DIRECT },
	{ "odd sizes at odd offsets, mmap", odd_io, NULL, MAPPED },
	{ "large file, buffered", whole_file, NULL },
	{ "large file, O_DIRECT", whole_file, NULL, O_DIRECT },
	{ "mmap of a file with a cold cache", mmap_read, NULL },
	{ "vectors of odd parts", vectors, NULL },
	{ "append", append, NULL },
	{ "truncate and extend", truncation, NULL },
	{ "rename", renames, NULL },
	{ "symlinks up to 4095 bytes", symlinks, NULL },
	{ "hard links", hard_links, NULL },
	{ "directory of many long names", large_directory, NULL },
	{ "mode, owner and times", attributes, NULL },
	{ "file removed while open", removed_while_open, NULL },
	{ "locks", locks, NULL },
	{ "xattrs up to 64 KiB", xattrs, "4.2" },
	{ "ACL of 40 entries", acls, "3" },
	{ "copy_file_range and holes", copy_and_holes, "4.2" },
};

int main(int argc, char **argv)
{
	const char *only = getenv("CASES");
	int done = 0;
	size_t i;

	if (argc < 3) {
		fprintf(stderr, "usage: [CASES=words] [QUICK=1] %s VERSION MOUNT [EXPORT]\n",
			argv[0]);
		return 2;
	}
	quick = getenv("QUICK");
	version = argv[1];
	mount_dir = argv[2];
	export_dir = argc > 3 ? argv[3] : NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].versions && strcmp(cases[i].versions, version))
			continue;
		if (only && !strstr(cases[i].name, only))
			continue;
		why[0] = 0;
		done++;
		flags = cases[i].flags;
		verdict(cases[i].run(), cases[i].name);
	}
	if (!done) {
		printf("FAIL no case of NFSv%s is called \"%s\"\n", version,
		       only ? only : "");
		return 2;
	}
	return failed;
}
