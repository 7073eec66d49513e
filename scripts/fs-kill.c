// SPDX-License-Identifier: GPL-2.0
/*
 * Kills tasks in the middle of file operations.
 *
 *	fs-kill MOUNT EXPORT KILLS [SEED]
 *	fs-kill -f MOUNT EXPORT SECONDS [SEED]
 *
 * The first form has slots with one task each, which repeats one operation until a signal
 * ends it; the next task of the slot gets the next operation. The signal is sent after a
 * random time, while the task is inside the operation; the program counts these hits for
 * each operation. Files have the same contents whenever they are written, so that all of
 * them can be compared at the end, regardless of the kills.
 *
 * The second form keeps readers and writers at work and ends their RPCs as "umount -f"
 * does. They get EIO and continue.
 *
 * One line per case, "ok NAME" or "FAIL NAME: why".
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SLOTS		8
#define MIB		(1 << 20)
#define DATA		(4 * MIB)
#define ENTRIES		160
#define BLOB		12000
#define SMALL		700
/* Users in an ACL: the Linux NFS server sends ACLs up to the first size only. */
#define SOME_USERS	320
#define MANY_USERS	335
#define LONG_LINK	1000	/* NFSv3 allows 1024 */
#define PATIENCE	15.0	/* s for a task to arrive in its operation, or to end */
#define LOCK_PATIENCE	25	/* s until the lock of a killed task is free */
/* Variants of an operation: READDIR with some LOOKUPs; LOCK of the slot's own file */
#define PLUS		1
#define OWN		1

static char why[512];
/* A condition that has to hold; the first false one ends the case. */
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

static uint64_t draw(uint64_t *state)
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

/* Prints the result of a case; the reason of a failure comes from must(). */
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

/* Transfers @len bytes at the file's beginning. */
static bool transfer(bool out, int fd, uint8_t *p, size_t len)
{
	size_t at = 0;
	ssize_t n;

	for (; at < len; at += n) {
		n = out ? pwrite(fd, p + at, len - at, at) :
			  pread(fd, p + at, len - at, at);
		must(n > 0, "%zd at %zu, %zu to go", n, at, len - at);
	}
	return true;
}

/* Memory that a task shares with its parent */
struct slot {
	pid_t pid;
	unsigned int op;
	int how;		/* variant of the operation, see ops[] */
	size_t len;
	unsigned long serial;
	volatile bool inside;
	volatile bool wrong;
	volatile unsigned long done, ended;
	double due, latest, killed;
	char said[256];
};

struct op {
	const char *name;
	bool (*round)(struct slot *s);
	int how;
	size_t len;
	unsigned int kills, hits;
};

static const char *mount_dir;
static const char *mnt, *export;	/* the test's folder, on both sides */
static struct slot *slots;
static uint8_t *data, *buf;
static uint64_t state;
static bool version3;

static uint64_t below(uint64_t n)
{
	return draw(&state) % n;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* A file of this slot */
static char *own(const struct slot *s, const char *what)
{
	return path(mnt, "%s-%u", what, (unsigned int)(s - slots));
}

/* Marks the system call in which the signal should hit the task. */
#define inside(s, call) ({						\
	__typeof__(call) ret_;						\
	(s)->inside = true;						\
	ret_ = (call);							\
	(s)->inside = false;						\
	ret_;								\
})

static bool read_some(struct slot *s)
{
	off_t at = below(DATA / MIB) * MIB;
	ssize_t n;
	int fd;

	fd = open(path(mnt, "data"), O_RDONLY | s->how);
	must(fd >= 0);
	if (!s->how)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	memset(buf, 0, s->len);
	n = inside(s, pread(fd, buf, s->len, at));
	must(n == (ssize_t)s->len, "%zd", n);
	close(fd);
	return compare(data + at, buf, s->len);
}

/* Each slot has a file of its own, and a place always gets the same bytes. */
static bool write_some(struct slot *s)
{
	off_t at = below(DATA / MIB) * MIB;
	ssize_t n;
	int fd;

	fd = open(own(s, "out"), O_WRONLY | s->how);
	must(fd >= 0);
	memcpy(buf, data + at, s->len);
	n = inside(s, pwrite(fd, buf, s->len, at));
	must(n == (ssize_t)s->len, "%zd", n);
	if (!s->how)
		must(!inside(s, fsync(fd)));
	close(fd);
	return true;
}

/* The new time on the server makes the client read the folder again. */
static bool list(struct slot *s)
{
	unsigned int n = 0;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	utimensat(AT_FDCWD, path(export, "many"), NULL, 0);
	dir = inside(s, opendir(path(mnt, "many")));
	must(dir);
	while ((e = inside(s, readdir(dir)))) {
		n++;
		if (s->how == PLUS && n % 40 == 1 && e->d_name[0] != '.')
			must(!inside(s, stat(path(mnt, "many/%s", e->d_name),
					     &st)));
	}
	closedir(dir);
	must(n == ENTRIES + 2, "%u entries", n);
	return true;
}

static bool make_link(struct slot *s)
{
	static char target[LONG_LINK + 1];
	const char *name = own(s, "link");

	memset(target, 'x', LONG_LINK);
	unlink(name);
	must(!inside(s, symlink(target, name)) || errno == EEXIST);
	return true;
}

static bool open_file(struct slot *s)
{
	const char *name = own(s, "new");
	int fd;

	fd = inside(s, open(name, O_RDWR | O_CREAT, 0644));
	must(fd >= 0);
	must(!inside(s, close(fd)));
	if (below(2))
		must(!inside(s, unlink(name)) || errno == ENOENT);
	return true;
}

/* A lock that other tasks wait for, or one on the slot's own file */
static bool lock_file(struct slot *s)
{
	struct flock fl = { .l_type = F_WRLCK };
	int fd;

	fd = open(s->how == OWN ? own(s, "out") : path(mnt, "lock"), O_RDWR);
	must(fd >= 0);
	must(!inside(s, fcntl(fd, F_SETLKW, &fl)));
	fl.l_type = F_UNLCK;
	must(!inside(s, fcntl(fd, F_SETLK, &fl)));
	close(fd);
	return true;
}

/* An ACL with an owner, @users users, group, mask and others */
static size_t make_acl(uint8_t *p, unsigned int users)
{
	uint32_t *word = (uint32_t *)p;
	unsigned int i;

	*word++ = 2;
	for (i = 0; i < users + 4; i++) {
		static const uint16_t last[] = { 0x04, 0x10, 0x20 };
		uint16_t *half = (uint16_t *)word;

		half[0] = !i ? 0x01 : i <= users ? 0x02 : last[i - users - 1];
		half[1] = 6;
		word[1] = i && i <= users ? 1000 + i : UINT32_MAX;
		word += 2;
	}
	return (uint8_t *)word - p;
}

static const char *attr_name(void)
{
	return version3 ? "system.posix_acl_access" : "user.blob";
}

static size_t make_attr(unsigned int users)
{
	if (version3)
		return make_acl(buf, users);
	memcpy(buf, data, BLOB);
	return BLOB;
}

static bool get_attr(struct slot *s)
{
	ssize_t n;

	utimensat(AT_FDCWD, path(export, "attr"), NULL, 0);
	n = inside(s, getxattr(path(mnt, "attr"), attr_name(), buf, MIB));
	must(n > BLOB / 8, "%zd", n);
	return version3 || compare(data, buf, BLOB);
}

static bool set_attr(struct slot *s)
{
	size_t len = make_attr(MANY_USERS);

	must(!inside(s, setxattr(own(s, "attr"), attr_name(), buf, len, 0)));
	return true;
}

static bool stat_file(struct slot *s)
{
	struct stat st;

	must(!inside(s, stat(path(mnt, "data"), &st)));
	must(st.st_size == DATA);
	return true;
}

static struct op ops[] = {
	{ "READ, 1 MiB", read_some, O_DIRECT, MIB },
	{ "WRITE, 1 MiB", write_some, O_DIRECT, MIB },
	{ "READDIR", list },
	{ "SYMLINK", make_link },
	{ "OPEN", open_file },
	{ "LOCK that is held", lock_file },
	{ "READ, cached", read_some, 0, MIB / 2 },
	{ "WRITE, cached", write_some, 0, MIB / 4 },
	{ "READDIR and LOOKUP", list, PLUS },
	{ "ACL or xattr, get", get_attr },
	{ "ACL or xattr, set", set_attr },
	{ "LOCK that is free", lock_file, OWN },
	{ "WRITE, small", write_some, O_DIRECT, SMALL },
	{ "READ, small", read_some, O_DIRECT, SMALL },
	{ "GETATTR", stat_file },
};
#define OPS (sizeof(ops) / sizeof(ops[0]))

static void work(struct slot *s)
{
	state += s->serial * 0x9e3779b97f4a7c15ull | 1;
	for (;;) {
		why[0] = '\0';
		if (!ops[s->op].round(s)) {
			s->inside = false;
			snprintf(s->said, sizeof(s->said), "%s: %s",
				 ops[s->op].name, why);
			s->wrong = true;
			pause();
		}
		s->done++;
	}
}

static void begin(struct slot *s, unsigned int op, unsigned long serial)
{
	pid_t pid;

	s->op = op;
	s->how = ops[op].how;
	s->len = ops[op].len;
	s->serial = serial;
	s->done = 0;
	s->inside = false;
	s->killed = 0;
	s->due = now() + 0.001 + below(15000) / 1e6;
	s->latest = s->due + PATIENCE;
	/* The slot is shared: only the parent writes the pid. */
	pid = fork();
	if (!pid) {
		work(s);
		_exit(1);
	}
	s->pid = pid;
}

static const int signals[] = { SIGKILL, SIGKILL, SIGINT, SIGTERM };

static struct {
	unsigned long kills;
	double longest;
	const char *longest_op;
} sum;

/* A task that is outside its operation when its time comes gets more time. */
static void end(struct slot *s)
{
	bool hit = s->inside;

	if (!hit && !s->wrong && now() < s->latest) {
		s->due = now() + below(1000) / 1e6;
		return;
	}
	kill(s->pid, signals[below(4)]);
	s->killed = now();
	ops[s->op].kills++;
	ops[s->op].hits += hit;
	sum.kills++;
}

static bool reap(struct slot *s)
{
	double took = now() - s->killed;

	must(took < PATIENCE, "%s: alive %.1f s after a signal",
	     ops[s->op].name, took);
	if (waitpid(s->pid, NULL, WNOHANG) != s->pid)
		return true;
	must(!s->wrong, "%s", s->said);
	if (took > sum.longest) {
		sum.longest = took;
		sum.longest_op = ops[s->op].name;
	}
	s->pid = 0;
	return true;
}

static bool kill_tasks(unsigned long kills)
{
	unsigned long serial = 0, busy = 1;
	unsigned int i;

	while (busy) {
		busy = 0;
		for (i = 0; i < SLOTS; i++) {
			struct slot *s = &slots[i];

			if (s->pid && s->killed && !reap(s))
				return false;
			if (!s->pid && serial < kills) {
				begin(s, serial % OPS, serial);
				serial++;
			}
			if (s->pid && !s->killed && now() >= s->due)
				end(s);
			busy += !!s->pid;
		}
		usleep(below(1500));
	}
	return true;
}

static bool all_hit(void)
{
	const struct op *missed = NULL, *op;

	for (op = ops; op < ops + OPS; op++) {
		printf("# %-20s %4u killed, %4u of them inside\n", op->name,
		       op->kills, op->hits);
		if (op->hits * 2 < op->kills)
			missed = op;
	}
	must(!missed, "%s", missed->name);
	return true;
}

static bool make_file(const char *name, size_t len)
{
	int fd = open(name, O_RDWR | O_CREAT, 0666);

	must(fd >= 0, "%s", name);
	if (!transfer(true, fd, data, len))
		return false;
	must(!close(fd));
	return true;
}

static bool same(const char *name)
{
	int fd = open(name, O_RDONLY);

	must(fd >= 0, "%s", name);
	if (!transfer(false, fd, buf, DATA))
		return false;
	must(!memcmp(buf, data, DATA), "%s differs", name);
	close(fd);
	return true;
}

static bool prepare(void)
{
	unsigned int i;
	size_t len;

	must(!mkdir(path(export, "many"), 0777) || errno == EEXIST);
	for (i = 0; i < ENTRIES; i++)
		if (!make_file(path(export, "many/%060u", i), 1))
			return false;
	for (i = 0; i < SLOTS; i++)
		if (!make_file(path(export, "out-%u", i), DATA) ||
		    !make_file(path(export, "attr-%u", i), 1))
			return false;
	if (!make_file(path(export, "data"), DATA) ||
	    !make_file(path(export, "lock"), 1) || !make_file(path(export, "attr"), 1))
		return false;
	len = make_attr(SOME_USERS);
	must(!setxattr(path(mnt, "attr"), attr_name(), buf, len, 0));
	return true;
}

static bool all_whole(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (!same(path(export, "out-%u", i)) || !same(path(mnt, "out-%u", i)))
			return false;
	return same(path(mnt, "data"));
}

/* The server frees the lock of a dead task on a request of the client. */
static bool lock_free(void)
{
	struct flock fl = { .l_type = F_WRLCK };
	int fd, i;

	fd = open(path(mnt, "lock"), O_RDWR);
	must(fd >= 0);
	for (i = 0; i < 10 * LOCK_PATIENCE && fcntl(fd, F_SETLK, &fl); i++)
		usleep(100000);
	must(i < 10 * LOCK_PATIENCE, "the lock is held still");
	must(!close(fd));
	return true;
}

/* Asynchronous RPCs also return ERESTARTSYS, to a task without signals. */
static bool was_ended(void)
{
	return errno == EIO || errno == EINTR || errno == 512;
}

/* Readers and writers that continue when their RPCs are ended */
static bool endure(struct slot *s, const volatile bool *over)
{
	off_t at;
	ssize_t n;
	int fd;

	do {
		fd = open(s->op ? own(s, "out") : path(mnt, "data"),
			  O_RDWR | O_DIRECT);
	} while (fd < 0 && was_ended());
	must(fd >= 0);
	while (!*over) {
		at = below(DATA / MIB) * MIB;
		memcpy(buf, data + at, s->op ? MIB : 0);
		n = s->op ? pwrite(fd, buf, MIB, at) : pread(fd, buf, MIB, at);
		if (n < 0) {
			must(was_ended());
			s->ended++;
			continue;
		}
		must(s->op || !memcmp(buf, data + at, n), "data differs");
		s->done++;
	}
	close(fd);
	return true;
}

static unsigned long rounds(void)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		n += slots[i].done + slots[i].ended;
	return n;
}

/* Waits until new RPCs have begun, so that the next umount ends some of them. */
static void await_rounds(unsigned long n)
{
	double latest = now() + 1;

	usleep(below(60000));
	while (rounds() < n && now() < latest)
		usleep(10000);
}

/* Both READs and WRITEs were ended more often than this, or a task has died. */
#define ENOUGH	5

static bool enough(void)
{
	unsigned long ended[2] = {};
	siginfo_t dead = {};
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		ended[i & 1] += slots[i].ended;
	waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT);
	return dead.si_pid || (ended[0] > ENOUGH && ended[1] > ENOUGH);
}

/* Takes @seconds at least; on a slow machine no RPC may have ended by then. */
static bool end_rpcs(double seconds)
{
	volatile bool *over = &slots[SLOTS].wrong;
	unsigned long ended[2] = {}, done[2] = {}, forced = 0;
	double stop = now() + seconds;
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < SLOTS; i++) {
		slots[i].op = i & 1;
		pid = fork();
		if (pid) {
			slots[i].pid = pid;
			continue;
		}
		state += i * 7919;
		if (endure(&slots[i], over))
			_exit(0);
		snprintf(slots[i].said, sizeof(slots[i].said), "%s", why);
		_exit(1);
	}
	while (now() < stop || !enough()) {
		await_rounds(rounds() + SLOTS);
		umount2(mount_dir, MNT_FORCE);
		forced++;
	}
	*over = true;
	for (i = 0; i < SLOTS; i++) {
		waitpid(slots[i].pid, &status, 0);
		must(!status, "%s", slots[i].said);
		ended[i & 1] += slots[i].ended;
		done[i & 1] += slots[i].done;
	}
	printf("# RPCs ended %lu times: %lu READs of %lu, %lu WRITEs of %lu\n",
	       forced, ended[0], ended[0] + done[0], ended[1],
	       ended[1] + done[1]);
	must(ended[0] > ENOUGH && ended[1] > ENOUGH, "READ %lu, WRITE %lu", ended[0],
	     ended[1]);
	return true;
}

static void kill_all(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i].pid > 0)
			kill(slots[i].pid, SIGKILL);
}

int main(int argc, char **argv)
{
	bool force = argc > 4 && !strcmp(argv[1], "-f");
	char name[96];
	bool good;

	argv += force;
	argc -= force;
	if (argc < 4 || argc > 5) {
		fputs("usage: fs-kill [-f] MOUNT EXPORT NUMBER\n", stderr);
		return 2;
	}
	mount_dir = argv[1];
	mnt = strdup(path(argv[1], "kill"));
	export = strdup(path(argv[2], "kill"));
	state = (argc == 5 ? strtoull(argv[4], NULL, 0) : now() * 1e6);
	state |= 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	slots = mmap(NULL, (SLOTS + 1) * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	data = mmap(NULL, 2 * DATA, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED || data == MAP_FAILED)
		return 2;
	buf = data + DATA;
	fill(data, DATA, 0x6b696c6c);
	umask(0);

	/* NFSv3 has no user xattrs. */
	mkdir(export, 0777);
	version3 = setxattr(mnt, "user.probe", "x", 1, 0) &&
		   errno == EOPNOTSUPP;
	printf("# seed %#llx\n", (unsigned long long)state);
	good = prepare();
	if (!good) {
		verdict(false, "files");
		return 1;
	}
	if (force) {
		verdict(end_rpcs(strtod(argv[3], NULL)),
			"RPCs of READ and WRITE ended in flight");
	} else {
		good = kill_tasks(strtoul(argv[3], NULL, 0));
		snprintf(name, sizeof(name), "%lu tasks killed", sum.kills);
		verdict(good, name);
		printf("# the slowest took %.3f s to end (%s)\n", sum.longest,
		       sum.longest_op ?: "none");
		verdict(all_hit(), "signals met each operation");
		verdict(lock_free(), "locks of killed tasks are free again");
	}
	kill_all();
	verdict(all_whole(), "files are whole");
	return failed;
}
