// SPDX-License-Identifier: GPL-2.0
/*
 * Kerberos contexts without Kerberos: gives the kernel's RPCSEC_GSS client and
 * server one session key, known beforehand, where rpc.gssd and rpc.svcgssd
 * would negotiate one with the help of a KDC.
 *
 *	gss-contexts serve	answers the client's upcalls, until it is killed;
 *				each gets a context of its own on both sides
 *	gss-contexts HANDLE	makes one context, on the server only, for a
 *				client in user space; eight hex digits
 *
 * A context without a handshake needs no Call to establish it: it is in the
 * server's cache before the client uses it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIPES		"/var/lib/nfs/rpc_pipefs/*/clnt*/gssd"
#define CONTEXTS	"/proc/net/rpc/auth.rpcsec.context/channel"
#define MAX_PIPES	64

/* As many as the server keeps track of */
#define WINDOW		128
#define LIFETIME	3600

/* RFC 3962: aes256-cts-hmac-sha1-96 */
#define ENCTYPE		18
#define KEY_LEN		32

/* Flags of a context, RFC 4121 */
#define INITIATOR	1
#define CFX		2

static struct {
	char name[128];
	int fd;
} pipes[MAX_PIPES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static size_t put(unsigned char *to, size_t at, const void *from, size_t len)
{
	memcpy(to + at, from, len);
	return at + len;
}

static size_t put32(unsigned char *to, size_t at, uint32_t value)
{
	return put(to, at, &value, sizeof(value));
}

/* What the kernel's krb5 mechanism imports: in the machine's byte order. */
static size_t put_context(unsigned char *to, size_t at, uint32_t flags)
{
	unsigned char key[KEY_LEN];
	uint64_t sequence = 0;
	size_t i;

	for (i = 0; i < sizeof(key); i++)
		key[i] = i + 1;
	at = put32(to, at, flags);
	at = put32(to, at, time(NULL) + LIFETIME);
	at = put(to, at, &sequence, sizeof(sequence));
	at = put32(to, at, ENCTYPE);
	return put(to, at, key, sizeof(key));
}

static void make_server_context(uint32_t handle, unsigned int uid)
{
	unsigned char context[128];
	size_t i, len = put_context(context, 0, CFX);
	char line[512];
	int fd, n;

	n = sprintf(line, "\\x%08x %lld %u %u 0 krb5 \\x", handle,
		    (long long)time(NULL) + LIFETIME, uid, uid);
	for (i = 0; i < len; i++)
		n += sprintf(line + n, "%02x", context[i]);
	n += sprintf(line + n, " client@TEST\n");

	fd = open(CONTEXTS, O_WRONLY);
	if (fd < 0 || write(fd, line, n) != n)
		die(CONTEXTS);
	close(fd);
}

static size_t client_context(unsigned char *to, uint32_t handle,
			     unsigned int uid)
{
	size_t at = 0, len_at;
	uint32_t name = htobe32(handle), len;

	at = put32(to, at, uid);
	at = put32(to, at, LIFETIME);
	at = put32(to, at, WINDOW);
	at = put32(to, at, sizeof(name));
	at = put(to, at, &name, sizeof(name));
	len_at = at;
	at = put_context(to, at + sizeof(len), INITIATOR | CFX);
	len = at - len_at - sizeof(len);
	put32(to, len_at, len);
	return at;
}

static void answer(int fd)
{
	static uint32_t handle = 0x67737300;
	unsigned char context[256];
	char upcall[512];
	unsigned int uid;
	ssize_t n;
	size_t len;

	n = read(fd, upcall, sizeof(upcall) - 1);
	if (n <= 0)
		return;
	upcall[n] = '\0';
	if (sscanf(upcall, "mech=krb5 uid=%u", &uid) != 1) {
		fprintf(stderr, "unexpected: %s", upcall);
		return;
	}
	make_server_context(++handle, uid);
	len = client_context(context, handle, uid);
	if (write(fd, context, len) != (ssize_t)len)
		perror("downcall");
	printf("%08x %s", handle, upcall);
	fflush(stdout);
}

static void open_pipe(const char *name)
{
	int i, fd;

	for (i = 0; i < MAX_PIPES; i++)
		if (pipes[i].fd >= 0 && !strcmp(pipes[i].name, name))
			return;
	for (i = 0; i < MAX_PIPES && pipes[i].fd >= 0; i++)
		;
	if (i == MAX_PIPES || strlen(name) >= sizeof(pipes[i].name))
		return;
	fd = open(name, O_RDWR | O_NONBLOCK);
	if (fd < 0)
		return;
	strcpy(pipes[i].name, name);
	pipes[i].fd = fd;
}

/* RPC clients come and go; each has a pipe of its own. */
static void look_for_pipes(void)
{
	glob_t found;
	size_t i;

	if (!glob(PIPES, GLOB_NOSORT, NULL, &found))
		for (i = 0; i < found.gl_pathc; i++)
			open_pipe(found.gl_pathv[i]);
	globfree(&found);
}

static void serve(void)
{
	struct pollfd polled[MAX_PIPES];
	int i;

	for (;;) {
		look_for_pipes();
		for (i = 0; i < MAX_PIPES; i++)
			polled[i] = (struct pollfd){ pipes[i].fd, POLLIN, 0 };
		if (poll(polled, MAX_PIPES, 20) < 0 && errno != EINTR)
			die("poll");
		for (i = 0; i < MAX_PIPES; i++) {
			if (polled[i].revents & POLLIN)
				answer(pipes[i].fd);
			if (polled[i].revents & (POLLHUP | POLLERR)) {
				close(pipes[i].fd);
				pipes[i].fd = -1;
			}
		}
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 2) {
		fprintf(stderr, "usage: %s serve|HANDLE\n", argv[0]);
		return 2;
	}
	for (i = 0; i < MAX_PIPES; i++)
		pipes[i].fd = -1;
	if (!strcmp(argv[1], "serve"))
		serve();
	make_server_context(strtoul(argv[1], NULL, 16), 0);
	return 0;
}
