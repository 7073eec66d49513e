// SPDX-License-Identifier: GPL-2.0
/*
 * A server of its own kind: it takes connections over librdmacm, behaves on
 * each as the command line says, and writes down every message.
 *
 *	peer [-g GRANT] [-r RECEIVES] PORT MANNERS...
 *
 * The first connection gets the first MANNERS, and so on; all after the last
 * get the last. -r posts fewer Receives. The log goes to standard output: number of
 * the connection, what happened. SIGUSR1 makes those say something whose manners
 * have something to be said then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define DEPTH		64
#define RECEIVE		8192
#define MAX_CONNS	64

struct conn {
	int number;
	const struct manners *manners;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_mr *mr;
	uint8_t *memory;	/* DEPTH Receives, one Send */
	int server;
	uint32_t version;
	unsigned int count;
	int up, over;
	int deaf;		/* Receives are not posted again */
	unsigned int idle[DEPTH], num_idle;
};

static volatile sig_atomic_t poked;
static struct conn *conns[MAX_CONNS];
static int num_conns;
static unsigned int receives = DEPTH;

static void die(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

void note(const struct conn *c, const char *fmt, ...)
{
	va_list args;

	printf("%d ", c->number);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int *conn_server(struct conn *c)
{
	return &c->server;
}

uint32_t *conn_version(struct conn *c)
{
	return &c->version;
}

unsigned int *conn_count(struct conn *c)
{
	return &c->count;
}

static void post_receive(struct conn *c, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->memory + i * RECEIVE,
		.length = RECEIVE,
		.lkey = c->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	ibv_post_recv(c->id->qp, &wr, &bad);
}

void stop_receiving(struct conn *c)
{
	note(c, "posts no Receive");
	c->deaf = 1;
}

void receive_again(struct conn *c)
{
	note(c, "posts Receives");
	c->deaf = 0;
	while (c->num_idle)
		post_receive(c, c->idle[--c->num_idle]);
}

void say_invalidating(struct conn *c, const struct draft *d, uint32_t handle)
{
	uint8_t *at = c->memory + DEPTH * RECEIVE;
	struct ibv_sge sge = {
		.addr = (uintptr_t)at,
		.length = d->len,
		.lkey = c->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = handle ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.invalidate_rkey = handle,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (c->over)
		return;
	memcpy(at, d->data, d->len);
	note(c, "sent %s", describe(d->data, d->len));
	if (ibv_post_send(c->id->qp, &wr, &bad))
		return;
	while (!ibv_poll_cq(c->send_cq, 1, &wc))
		usleep(100);
	if (wc.status != IBV_WC_SUCCESS)
		note(c, "not sent: %s", ibv_wc_status_str(wc.status));
}

void say(struct conn *c, const struct draft *d)
{
	say_invalidating(c, d, 0);
}

void hang_up(struct conn *c)
{
	if (!c->over)
		note(c, "hangs up");
	c->over = 1;
	/* Before the connection is up the other side would not be told. */
	if (c->up)
		rdma_disconnect(c->id);
}

static void begin_connection(struct conn *c)
{
	note(c, "up");
	c->up = 1;
	if (c->over)
		rdma_disconnect(c->id);
}

static void take_messages(struct conn *c)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *unused;

	if (ibv_get_cq_event(c->channel, &cq, &unused))
		return;
	ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(cq, 0);
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		const uint8_t *data = c->memory + wc.wr_id * RECEIVE;

		if (wc.status != IBV_WC_SUCCESS || c->over)
			continue;
		note(c, "recv %s", describe(data, wc.byte_len));
		respond(c, c->manners, data, wc.byte_len);
		if (c->deaf)
			c->idle[c->num_idle++] = wc.wr_id;
		else
			post_receive(c, wc.wr_id);
	}
}

static void create_queues(struct conn *c)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	size_t size = (size_t)DEPTH * RECEIVE + DRAFT_MAX;
	struct ibv_pd *pd = ibv_alloc_pd(c->id->verbs);
	unsigned int i;

	c->channel = ibv_create_comp_channel(c->id->verbs);
	c->recv_cq = ibv_create_cq(c->id->verbs, DEPTH, NULL, c->channel, 0);
	c->send_cq = ibv_create_cq(c->id->verbs, 1, NULL, NULL, 0);
	if (!pd || !c->channel || !c->recv_cq || !c->send_cq)
		die("completion queues");
	c->memory = aligned_alloc(4096, size);
	c->mr = ibv_reg_mr(pd, c->memory, size, IBV_ACCESS_LOCAL_WRITE);
	if (!c->mr)
		die("ibv_reg_mr");
	attr.send_cq = c->send_cq;
	attr.recv_cq = c->recv_cq;
	if (rdma_create_qp(c->id, pd, &attr))
		die("rdma_create_qp");
	ibv_req_notify_cq(c->recv_cq, 0);
	for (i = 0; i < receives; i++)
		post_receive(c, i);
}

/* What version 1 servers say of themselves: 4096 octets both ways */
static void accept_connection(struct rdma_cm_id *id, const struct manners *m)
{
	static const uint8_t private[] = {
		0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3,
	};
	struct rdma_conn_param param = {
		.private_data = private,
		.private_data_len = sizeof(private),
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};
	struct conn *c;

	if (num_conns == MAX_CONNS || !(c = calloc(1, sizeof(*c)))) {
		rdma_reject(id, NULL, 0);
		return;
	}
	conns[num_conns++] = c;
	c->number = num_conns;
	c->manners = m;
	c->id = id;
	c->server = -1;
	id->context = c;
	create_queues(c);
	if (rdma_accept(id, &param))
		die("rdma_accept");
}

/* Queues stay: a program that lasts for a test need not tidy up. */
static void end_connection(struct conn *c)
{
	note(c, "down");
	c->over = 1;
	if (c->server >= 0)
		close(c->server);
	c->server = -1;
	rdma_disconnect(c->id);
}

static void take_event(struct rdma_event_channel *channel,
		       const struct manners **manners, int num_manners)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int type, i;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	id = event->id;
	type = event->event;
	rdma_ack_cm_event(event);

	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		i = num_conns < num_manners ? num_conns : num_manners - 1;
		accept_connection(id, manners[i]);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		begin_connection(id->context);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		end_connection(id->context);
		break;
	}
}

static void take_signal(int unused)
{
	(void)unused;
	poked = 1;
}

static void poke_all(void)
{
	int i;

	poked = 0;
	for (i = 0; i < num_conns; i++)
		if (conns[i]->up && !conns[i]->over)
			poke(conns[i], conns[i]->manners);
}

static struct rdma_event_channel *listen_on(int port)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	if (rdma_bind_addr(id, (struct sockaddr *)&sin6) || rdma_listen(id, 8))
		die("rdma_listen");
	printf("0 listens\n");
	fflush(stdout);
	return channel;
}

int main(int argc, char **argv)
{
	const struct manners *manners[MAX_CONNS];
	struct pollfd fds[1 + 2 * MAX_CONNS];
	struct rdma_event_channel *channel;
	sigset_t none, usr1;
	int i, n, opt;

	while ((opt = getopt(argc, argv, "g:r:")) != -1) {
		if (opt == 'g')
			grant = atoi(optarg);
		else if (opt == 'r')
			receives = atoi(optarg);
	}
	argc -= optind;
	argv += optind;
	if (argc < 2 || argc > MAX_CONNS) {
		fputs("usage: peer [-g GRANT] [-r RECEIVES] PORT MANNERS...\nof", stderr);
		list_manners();
		return 2;
	}
	for (i = 1; i < argc; i++) {
		manners[i - 1] = find_manners(argv[i]);
		if (!manners[i - 1]) {
			fprintf(stderr, "peer: no manners '%s'\n", argv[i]);
			return 2;
		}
	}

	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	signal(SIGUSR1, take_signal);
	channel = listen_on(atoi(argv[0]));
	for (;;) {
		n = num_conns;
		fds[0] = (struct pollfd){ channel->fd, POLLIN, 0 };
		for (i = 0; i < n; i++) {
			fds[1 + i] = (struct pollfd){ conns[i]->channel->fd,
						      POLLIN, 0 };
			fds[1 + n + i] = (struct pollfd){ conns[i]->server,
							  POLLIN, 0 };
		}
		if (ppoll(fds, 1 + 2 * n, NULL, &none) < 0 && errno != EINTR)
			die("ppoll");
		if (poked) {
			poke_all();
			continue;
		}
		if (fds[0].revents)
			take_event(channel, manners, argc - 1);
		for (i = 0; i < n; i++) {
			if (fds[1 + n + i].revents)
				called_back(conns[i]);
			if (fds[1 + i].revents)
				take_messages(conns[i]);
		}
	}
}
