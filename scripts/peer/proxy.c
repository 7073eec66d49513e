// SPDX-License-Identifier: GPL-2.0
/*
 * Behind the transport: Calls go to the NFS server of this machine over TCP,
 * and its Replies come back inline. What needs chunks gets an error. Calls of
 * that server go the other way, and the client's Replies to them back.
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

/* The connection of @c to the server, made when it is needed; or -1 */
static int server_of(struct conn *c)
{
	int *server = conn_server(c);

	if (*server < 0)
		*server = connect_server();
	return *server;
}

static int put_record(int fd, const uint8_t *data, size_t len)
{
	uint32_t mark = htonl(LAST_FRAGMENT | len);

	return send(fd, &mark, 4, MSG_NOSIGNAL | MSG_MORE) == 4 &&
	       send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static int get_all(int fd, uint8_t *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

/* Length of the record, or 0; a longer one than @max is of no use. */
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

static uint32_t direction(const uint8_t *rpc)
{
	return get32(rpc + 4);
}

/* One record of the server: its direction, or -1 when it is of no use */
static int relay(struct conn *c)
{
	uint8_t rpc[DRAFT_MAX];
	struct draft d;
	size_t len;

	begin_rpc(&d, 0, *conn_version(c), REPLY);
	len = get_record(*conn_server(c), rpc, MESSAGE_MAX - d.len);
	if (len < 8)
		return -1;
	begin_rpc(&d, get32(rpc), *conn_version(c), direction(rpc));
	memcpy(d.data + d.len, rpc, len);
	d.len += len;
	say(c, &d);
	return direction(rpc);
}

static void drop_server(struct conn *c)
{
	close(*conn_server(c));
	*conn_server(c) = -1;
}

/* The server has something to say that is no Reply */
void called_back(struct conn *c)
{
	if (*conn_server(c) >= 0 && relay(c) < 0)
		drop_server(c);
}

void serve(struct conn *c, const struct message *m)
{
	int *server = conn_server(c);
	int came = -1;

	if (!m->rpc || m->rpc_len < 8 || m->reads) {
		refuse(c, m, ERR_READS);
		return;
	}
	if (direction(m->rpc) == REPLY) {
		put_record(*server, m->rpc, m->rpc_len);
		return;
	}
	*conn_version(c) = m->vers;
	if (server_of(c) >= 0 && put_record(*server, m->rpc, m->rpc_len))
		while ((came = relay(c)) == CALL)
			;
	if (came < 0) {
		note(c, "no Reply that fits");
		drop_server(c);
		refuse(c, m, ERR_REPLY);
	}
}
