// SPDX-License-Identifier: GPL-2.0
/*
 * Behind the transport: Calls go to the NFS server of this machine over TCP,
 * and its Replies come back inline. What needs chunks draws an error.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

#define NFS_PORT	2049
#define LAST_FRAGMENT	0x80000000u

static int connect_server(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(NFS_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&sin, sizeof(sin))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int put_record(int fd, const uint8_t *data, size_t len)
{
	uint8_t record[4 + MESSAGE_MAX];
	uint32_t mark = htonl(LAST_FRAGMENT | len);

	memcpy(record, &mark, 4);
	memcpy(record + 4, data, len);
	return send(fd, record, 4 + len, MSG_NOSIGNAL) == (ssize_t)(4 + len);
}

static int get_all(int fd, uint8_t *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

/* Length of the record, or 0; a longer one than @max is no use to us. */
static size_t get_record(int fd, uint8_t *data, size_t max)
{
	uint32_t mark;
	size_t len;

	if (!get_all(fd, (uint8_t *)&mark, 4))
		return 0;
	mark = ntohl(mark);
	len = mark & ~LAST_FRAGMENT;
	if (!(mark & LAST_FRAGMENT) || len > max || !get_all(fd, data, len))
		return 0;
	return len;
}

static void refuse(struct conn *c, const struct message *call, uint32_t code)
{
	struct draft d;

	make_error(&d, call->xid, call->vers, call->vers == 1 ? ERR_BAD : code);
	if (call->vers == 2 && code == ERR_READS)
		put32(&d, 0);
	if (call->vers == 2 && code == ERR_REPLY)
		put32(&d, 1 << 20);
	say(c, &d);
}

void serve(struct conn *c, const struct message *call)
{
	int *server = conn_server(c);
	struct draft d;
	size_t len;

	if (!call->rpc || call->reads) {
		refuse(c, call, ERR_READS);
		return;
	}
	if (*server < 0)
		*server = connect_server();
	begin_reply(&d, call->xid, call->vers);
	if (*server >= 0 && put_record(*server, call->rpc, call->rpc_len))
		len = get_record(*server, d.data + d.len, MESSAGE_MAX - d.len);
	else
		len = 0;
	if (!len) {
		note(c, "no Reply that fits");
		close(*server);
		*server = -1;
		refuse(c, call, ERR_REPLY);
		return;
	}
	d.len += len;
	say(c, &d);
}
