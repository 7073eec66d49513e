// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps READs and WRITEs in flight on several files at once.
 *
 *	load [-d DEPTH] [-n TIMES] [-s BYTES] FILE...
 *
 * DEPTH requests are in flight on each file, until each of them has been done TIMES times.
 * A single thread and a single buffer serve all requests, so nearly all memory that the
 * load takes is the kernel's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS	64

static void __attribute__((noreturn)) fail(const char *what, long error)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(error));
	exit(1);
}

static void submit(aio_context_t context, struct iocb *request)
{
	if (syscall(SYS_io_submit, context, 1, &request) != 1)
		fail("io_submit", errno);
}

int main(int argc, char **argv)
{
	int c, i, depth = 4, times = 8, requests, late, pending;
	size_t size = 65536, done = 0;
	struct io_event events[EVENTS];
	aio_context_t context = 0;
	struct iocb *all;
	char *buffer;
	int *left;
	long n;

	while ((c = getopt(argc, argv, "d:n:s:")) != -1) {
		switch (c) {
		case 'd': depth = atoi(optarg); break;
		case 'n': times = atoi(optarg); break;
		case 's': size = strtoul(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	requests = (argc - optind) * depth;
	if (requests < 1 || times < 1) {
		fprintf(stderr, "usage: see scripts/bench/load.c\n");
		return 2;
	}
	all = calloc(requests, sizeof(*all));
	left = calloc(requests, sizeof(*left));
	if (!all || !left || posix_memalign((void **)&buffer, 4096, size))
		fail("memory", ENOMEM);
	memset(buffer, 1, size);
	if (syscall(SYS_io_setup, requests, &context))
		fail("io_setup", errno);

	for (i = 0; i < requests; i++) {
		const char *name = argv[optind + i / depth];

		all[i].aio_fildes = i % depth ? all[i - 1].aio_fildes :
			(__u32)open(name, O_RDWR | O_CREAT | O_DIRECT, 0666);
		if ((int)all[i].aio_fildes < 0)
			fail(name, errno);
		all[i].aio_data = i;
		all[i].aio_lio_opcode = i % 2 ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
		all[i].aio_buf = (__u64)(unsigned long)buffer;
		all[i].aio_nbytes = size;
		left[i] = times;
	}
	for (i = 0; i < requests; i++)
		submit(context, &all[i]);
	/*
	 * Requests that have been done TIMES times continue, so that the last ones have
	 * company.
	 */
	for (late = pending = requests; pending; ) {
		n = syscall(SYS_io_getevents, context, 1, EVENTS, events, NULL);
		if (n < 0 && errno != EINTR)
			fail("io_getevents", errno);
		for (i = 0; i < n; i++) {
			int number = events[i].data;

			/* A READ before the first WRITE returns no bytes. */
			if (events[i].res < 0)
				fail("I/O", -events[i].res);
			done++;
			if (!--left[number])
				late--;
			if (late)
				submit(context, &all[number]);
			else
				pending--;
		}
	}
	printf("%zu done\n", done);
	return 0;
}
