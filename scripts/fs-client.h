/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program that tests a mount asks of the client's kernel: which
 * operations went out, and that it forgets what it has cached.
 */
#ifndef FS_CLIENT_H
#define FS_CLIENT_H

#include <fcntl.h>

#include "fs-common.h"

/*
 * How often this mount has sent an operation, by /proc/self/mountstats; -1 for
 * one that is not there.
 */
static long sent(const char *mnt, const char *operation)
{
	char line[1024], dir[512], type[32], name[64];
	bool here = false;
	long n, of_it = -1;
	FILE *in;

	in = fopen("/proc/self/mountstats", "r");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "device %*s mounted on %511s with fstype %31s",
			   dir, type) == 2)
			here = !strcmp(dir, mnt) && !strncmp(type, "nfs", 3);
		else if (here && sscanf(line, " %63[A-Z0-9_]: %*d %ld", name, &n) == 2 &&
			 !strcmp(name, operation))
			of_it = n;
	}
	if (in)
		fclose(in);
	return of_it;
}

/* The client forgets all that is clean. */
static bool drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	must(fd >= 0);
	must(write(fd, "3", 1) == 1);
	close(fd);
	return true;
}

#endif /* FS_CLIENT_H */
