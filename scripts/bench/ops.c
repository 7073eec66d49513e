// SPDX-License-Identifier: GPL-2.0
/*
 * Does a number of operations of one kind on a mount, and measures them.
 *
 *	ops [-n OPERATIONS] [-j JOBS] [-w WARM-UP] [-s BYTES] [-e] [-f FILE]...
 *	    [-p CONTROL] ROW FOLDER EXPORTED
 *
 * FOLDER is on the mount; EXPORTED is the same folder on the server's side, where the
 * program prepares files without RPCs. JOBS threads share the operations. Each FILE has
 * counters, whose text before and after the operations is printed before the result;
 * preparation and warm-up are not included.
 *
 * In a guest whose clock counts instructions, a nanosecond is an instruction. "ns" is the
 * elapsed time, "busy" the time that the processor spent outside its idle task, including
 * work that followed the return of the last operation. With -e each operation is timed, and
 * "least" is the time of the fastest one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_JOBS	64
#define MAX_FILES	64
#define SPANS		4	/* places in a file that a job uses in turn */
#define ENTRIES		100	/* of the folder of READDIR */
#define SETTLE_NS	5000000

struct job {
	int		 number;	/* of the job */
	int		 ops;
	int		 warm;
	int		 fd;
	char		*buffer;
	int		 exported;	/* the folder of READDIR, on the server */
	long long	 least;
};

struct row {
	const char	*name;
	void		(*prepare)(struct job *job);
	void		(*op)(struct job *job, int i);
};

static int mounted, exported;	/* the folder, on both sides */
static size_t size = 4096;
static const struct row *row;
static pthread_barrier_t gate;
static bool each;

static void __attribute__((format(printf, 1, 2), noreturn))
fail(const char *format, ...)
{
	int error = errno;
	va_list ap;

	fprintf(stderr, "ops: %s: ", row ? row->name : "");
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(error));
	exit(1);
}

/*
 * The names of files are unique among all operations of all jobs, including the warm-up.
 */
static void name_of(char *name, const char *what, const struct job *job, int i)
{
	snprintf(name, 64, "%s.%d.%d", what, job->number, i);
}

static int make(int folder, const char *name, size_t bytes)
{
	static const char zeroes[65536];
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_TRUNC, 0666);
	size_t n;

	if (fd < 0)
		fail("%s", name);
	for (; bytes; bytes -= n) {
		n = bytes < sizeof(zeroes) ? bytes : sizeof(zeroes);
		if (write(fd, zeroes, n) != (ssize_t)n)
			fail("%s", name);
	}
	return fd;
}

static void open_it(struct job *job, int flags)
{
	char name[64];

	name_of(name, "file", job, 0);
	job->fd = openat(mounted, name, flags);
	if (job->fd < 0)
		fail("%s", name);
}

static void prepare_file(struct job *job)
{
	char name[64];

	name_of(name, "file", job, 0);
	close(make(exported, name, 4096));
}

static void prepare_getattr(struct job *job)
{
	prepare_file(job);
	open_it(job, O_RDONLY);
}

static void getattr(struct job *job, int i)
{
	struct statx st;

	(void)i;
	if (statx(job->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
		  STATX_BASIC_STATS, &st))
		fail("statx");
}

static void lookup(struct job *job, int i)
{
	char name[64];
	struct stat st;

	name_of(name, "missing", job, i);
	if (!fstatat(mounted, name, &st, 0) || errno != ENOENT)
		fail("%s", name);
}

static void open_close(struct job *job, int i)
{
	(void)i;
	open_it(job, O_RDONLY);
	close(job->fd);
}

static void create(struct job *job, int i)
{
	char name[64];
	int fd;

	name_of(name, "new", job, i);
	fd = openat(mounted, name, O_CREAT | O_EXCL | O_WRONLY, 0666);
	if (fd < 0)
		fail("%s", name);
	close(fd);
}

/* The client looks up each file in advance, so that unlink() sends no LOOKUP. */
static void prepare_unlink(struct job *job)
{
	char name[64];
	struct stat st;
	int i;

	for (i = 0; i < job->warm + job->ops; i++) {
		name_of(name, "old", job, i);
		close(make(exported, name, 0));
		if (fstatat(mounted, name, &st, 0))
			fail("%s", name);
	}
}

static void unlink_it(struct job *job, int i)
{
	char name[64];

	name_of(name, "old", job, i);
	if (unlinkat(mounted, name, 0))
		fail("%s", name);
}

static void prepare_readdir(struct job *job)
{
	char name[64];
	int i;

	name_of(name, "folder", job, 0);
	if (mkdirat(exported, name, 0777))
		fail("%s", name);
	job->exported = openat(exported, name, O_DIRECTORY);
	if (job->exported < 0)
		fail("%s", name);
	for (i = 0; i < ENTRIES; i++) {
		name_of(name, "entry", job, i);
		close(make(job->exported, name, 0));
	}
	name_of(name, "folder", job, 0);
	job->fd = openat(mounted, name, O_DIRECTORY);
	if (job->fd < 0)
		fail("%s", name);
}

/*
 * A file is added or removed on the server's side; otherwise the client would use its
 * cache.
 */
static void readdir_it(struct job *job, int i)
{
	static __thread char entries[32768];
	long n = 0, got, at;

	if (i & 1)
		unlinkat(job->exported, "extra", 0);
	else
		close(openat(job->exported, "extra", O_CREAT, 0666));
	lseek(job->fd, 0, SEEK_SET);
	while ((got = syscall(SYS_getdents64, job->fd, entries,
			      sizeof(entries))) > 0)
		for (at = 0; at < got; n++)
			at += ((struct dirent64 *)(entries + at))->d_reclen;
	if (got < 0 || n != ENTRIES + 2 + !(i & 1))
		fail("%ld entries", n);
}

static void prepare_io(struct job *job)
{
	char name[64];

	name_of(name, "file", job, 0);
	close(make(exported, name, size * SPANS));
	open_it(job, O_RDWR | O_DIRECT);
	if (posix_memalign((void **)&job->buffer, 4096, size + 4096))
		fail("memory");
	memset(job->buffer, job->number, size);
}

static void read_it(struct job *job, int i)
{
	if (pread(job->fd, job->buffer, size, i % SPANS * size) !=
	    (ssize_t)size)
		fail("pread");
}

static void write_it(struct job *job, int i)
{
	if (pwrite(job->fd, job->buffer, size, i % SPANS * size) !=
	    (ssize_t)size)
		fail("pwrite");
}

static const struct row rows[] = {
	{ "GETATTR",	prepare_getattr,	getattr },
	{ "LOOKUP",	NULL,			lookup },
	{ "OPEN",	prepare_file,		open_close },
	{ "CREATE",	NULL,			create },
	{ "UNLINK",	prepare_unlink,		unlink_it },
	{ "READDIR",	prepare_readdir,	readdir_it },
	{ "READ",	prepare_io,		read_it },
	{ "WRITE",	prepare_io,		write_it },
};

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void work(struct job *job, int from, int to)
{
	long long t0 = 0, t;
	int i;

	for (i = from; i < to; i++) {
		if (each)
			t0 = now();
		row->op(job, i);
		if (!each)
			continue;
		t = now() - t0;
		if (!job->least || t < job->least)
			job->least = t;
	}
}

static void *worker(void *data)
{
	struct job *job = data;

	work(job, 0, job->warm);
	pthread_barrier_wait(&gate);	/* warm */
	pthread_barrier_wait(&gate);	/* go */
	work(job, job->warm, job->warm + job->ops);
	pthread_barrier_wait(&gate);	/* done */
	return NULL;
}

static void settle(void)
{
	struct timespec ts = { .tv_nsec = SETTLE_NS };

	nanosleep(&ts, NULL);
}

/* The time that all processors spent with tasks: the seventh number of each line */
static long long busy(int fd)
{
	long long sum = 0, n;
	char text[8192], *at;
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got < 0)
		return 0;
	text[got] = 0;
	for (at = text; (at = strstr(at, "\ncpu")); at++)
		if (sscanf(at, "\ncpu%*d %*d %*d %*d %*d %*d %*d %lld", &n) == 1)
			sum += n;
	return sum;
}

static char *slurp(const char *path)
{
	size_t have = 1 << 16, got;
	char *text = malloc(have);
	FILE *in = fopen(path, "r");

	if (!in || !text)
		fail("%s", path);
	got = fread(text, 1, have - 1, in);
	fclose(in);
	text[got] = 0;
	return text;
}

/* perf record's --control fifo:CONTROL,CONTROL.ack */
static void perf_record(const char *control, const char *command)
{
	static int to = -1, from = -1;
	char path[256], answer[8];

	if (!control)
		return;
	if (to < 0) {
		snprintf(path, sizeof(path), "%s.ack", control);
		to = open(control, O_WRONLY);
		from = open(path, O_RDONLY);
	}
	if (write(to, command, strlen(command)) < 0 ||
	    read(from, answer, sizeof(answer)) < 4 ||
	    strncmp(answer, "ack\n", 4))
		fail("%s: no answer", control);
}

int main(int argc, char **argv)
{
	static struct job jobs[MAX_JOBS];
	static char *before[MAX_FILES], *after[MAX_FILES], *files[MAX_FILES];
	long long t0, t1, busy0, busy1;
	int njobs = 1, ops = 100, warm = 8, nfiles = 0, schedstat, i, c;
	const char *control = NULL;
	pthread_t thread;

	while ((c = getopt(argc, argv, "n:j:w:s:f:ep:")) != -1) {
		switch (c) {
		case 'n': ops = atoi(optarg); break;
		case 'j': njobs = atoi(optarg); break;
		case 'w': warm = atoi(optarg); break;
		case 's': size = strtoul(optarg, NULL, 0); break;
		case 'e': each = true; break;
		case 'p': control = optarg; break;
		case 'f':
			if (nfiles == MAX_FILES)
				fail("files");
			files[nfiles++] = optarg;
			break;
		default: return 2;
		}
	}
	if (argc - optind != 3 || njobs < 1 || njobs > MAX_JOBS) {
		fprintf(stderr, "usage: see scripts/bench/ops.c\n");
		return 2;
	}
	for (i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
		if (!strcmp(rows[i].name, argv[optind]))
			row = &rows[i];
	if (!row)
		fail("there is no row %s", argv[optind]);
	mounted = open(argv[optind + 1], O_DIRECTORY);
	exported = open(argv[optind + 2], O_DIRECTORY);
	schedstat = open("/proc/schedstat", O_RDONLY);
	if (mounted < 0 || exported < 0)	/* not all kernels have schedstat */
		fail("folders");

	pthread_barrier_init(&gate, NULL, njobs + 1);
	for (i = 0; i < njobs; i++) {
		jobs[i].number = i;
		jobs[i].ops = ops / njobs;
		jobs[i].warm = warm;
		if (row->prepare)
			row->prepare(&jobs[i]);
		if (pthread_create(&thread, NULL, worker, &jobs[i]))
			fail("thread");
	}
	pthread_barrier_wait(&gate);
	settle();
	for (i = 0; i < nfiles; i++)
		before[i] = slurp(files[i]);
	settle();

	perf_record(control, "enable\n");
	busy0 = busy(schedstat);
	t0 = now();
	pthread_barrier_wait(&gate);
	pthread_barrier_wait(&gate);
	t1 = now();
	perf_record(control, "disable\n");
	settle();
	busy1 = busy(schedstat);

	for (i = 0; i < nfiles; i++)
		after[i] = slurp(files[i]);
	for (i = 0; i < nfiles; i++)
		printf("@before %s\n%s\n@after %s\n%s\n", files[i], before[i],
		       files[i], after[i]);
	printf("@result ops=%d ns=%lld busy=%lld least=%lld\n",
	       ops / njobs * njobs, t1 - t0, busy1 - busy0, jobs[0].least);
	return 0;
}
