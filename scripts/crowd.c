// SPDX-License-Identifier: GPL-2.0
/*
 * A crowd of hostile clients: many connections to an RDMA service, each of which tries to
 * use up a resource of the service.
 *
 *	crowd [-s SECONDS] [-m MANNER] ADDRESS PORT COUNT
 *
 * The connections take turns in these manners, or all have the manner of -m, and reconnect
 * when they are lost:
 *
 *	withhold  posts no Receive, so that its device answers no RDMA Read behind the
 *		  first Reply: eight Calls of 1 MiB each
 *	slow	  the same with RDMA Reads of one byte; every SECONDS (default 19) it
 *		  posts one Receive, which lets one of them complete
 *	chunks	  Calls with the longest chunk lists, one after the other
 *	mute	  sends nothing
 *	rnr	  posts no Receive for the Replies to eight Calls
 *	hoard	  the same with 30 READs of 1 MiB of the file "hoard", whose RDMA Writes
 *		  wait behind the first Reply; by -m only
 *	flood	  uses all granted credits for NULL Calls; by -m only
 *	drain	  the same with READs of 64 KiB of that file; by -m only
 *	half	  sends a connection request and never confirms the connection; by -m
 *		  only
 *
 * The program prints "ready" when all connections are established and have sent their first
 * messages. On SIGTERM it prints a line for each manner with the counts of its connections,
 * and ends. After SIGUSR1 it does not reconnect.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define MANY		256
#define SENDS		32
#define RECVS		4
#define SIZE		4096
#define OFFERED		(1 << 20)
/* Milliseconds between two Calls with long chunk lists */
#define PAUSE		500
/*
 * RNR timers of this end: 0.12 s, and 0.66 s if the other end repeats RDMA Writes at each
 * retry
 */
#define RNR_TIMER	27
#define RNR_TIMER_LONG	0

/* Outstanding Calls, and Receives for the Replies, of a flooding connection */
#define DEPTH		128
#define DRAINED		(1 << 16)

enum manner { WITHHOLD, SLOW, CHUNKS, MUTE, RNR, HOARD, FLOOD, DRAIN, HALF,
	MANNERS };

#define TURNS		HOARD

static const char *const names[] = { "withhold", "slow", "chunks", "mute", "rnr",
				     "hoard", "flood", "drain", "half" };

/* Counts by manner */
static struct {
	unsigned int up, lost, refused, calls, taken, replies, late, most;
} did[MANNERS];

struct conn {
	enum manner manner;
	struct rdma_cm_id *id;
	struct ibv_mr *mr, *offered;
	uint8_t *memory;	/* for Sends, followed by Receives */
	unsigned int sends, recvs;
	unsigned int sent;
	unsigned int under_way, grant;
	long long since;	/* time of the last action */
};

static struct conn conns[MANY];
static unsigned int count;
static const char *host, *service;
static long long delay = 19000;
static uint8_t *payload;
static volatile sig_atomic_t over, alone;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static uint8_t *put(uint8_t *p, uint32_t word)
{
	word = htonl(word);
	memcpy(p, &word, 4);
	return p + 4;
}

static uint8_t *put_segment(uint8_t *p, const struct conn *c, uint32_t length)
{
	p = put(put(p, c->offered->rkey), length);
	p = put(p, (uint64_t)(uintptr_t)payload >> 32);
	return put(p, (uintptr_t)payload);
}

/*
 * A NULL Call of NFSv4 in version 2. Read chunk n is at position 40 + 4 * n and has this
 * number of segments; each Write chunk has one segment.
 */
static size_t build(struct conn *c, uint8_t *to, unsigned int chunks,
		    unsigned int segments, uint32_t length, unsigned int writes)
{
	static const uint32_t rpc[] = { 0, 2, 100003, 4, 0, 0, 0, 0, 0 };
	uint32_t xid = 0x1000 + c->sent;
	unsigned int i, j;
	uint8_t *p = to;

	p = put(put(put(put(p, xid), 2), c->sends), 0);
	p = put(put(p, 0), 0);
	for (i = 0; i < chunks; i++) {
		for (j = 0; j < segments; j++)
			p = put_segment(put(put(p, 1), 40 + 4 * i), c, length);
	}
	p = put(p, 0);
	for (i = 0; i < writes; i++)
		p = put_segment(put(put(p, 1), 1), c, OFFERED);
	p = put(put(p, 0), 0);
	p = put(p, xid);
	for (i = 0; i < sizeof(rpc) / sizeof(rpc[0]); i++)
		p = put(p, rpc[i]);
	return p - to;
}

static void call(struct conn *c, unsigned int chunks, unsigned int segments,
		 uint32_t length, unsigned int writes)
{
	uint8_t *at = c->memory + c->sent++ % c->sends * SIZE;
	size_t len = build(c, at, chunks, segments, length, writes);

	if (!rdma_post_send(c->id, NULL, at, len, c->mr, IBV_SEND_SIGNALED))
		did[c->manner].calls++;
}

/* A READ of the file "hoard" (PUTROOTFH, LOOKUP, READ of NFSv4.0), with a Write chunk */
static void read_file(struct conn *c, uint32_t bytes)
{
	const uint32_t rpc[] = {
		0, 2, 100003, 4, 1, 1, 20, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 3, 24, 15, 5, 0x686f6172, 0x64000000,
		25, 0, 0, 0, 0, 0, 0, bytes,
	};
	uint8_t *to = c->memory + c->sent % c->sends * SIZE, *p = to;
	uint32_t xid = 0x1000 + c->sent++;
	unsigned int i;

	p = put(put(put(put(p, xid), 2), c->sends), 0);
	p = put(put(put(p, 0), 0), 0);
	p = put_segment(put(put(p, 1), 1), c, bytes);
	p = put(put(put(p, 0), 0), xid);
	for (i = 0; i < sizeof(rpc) / sizeof(rpc[0]); i++)
		p = put(p, rpc[i]);
	if (!rdma_post_send(c->id, NULL, to, p - to, c->mr, IBV_SEND_SIGNALED))
		did[c->manner].calls++;
}

static void receive(struct conn *c, unsigned int i)
{
	rdma_post_recv(c->id, (void *)(uintptr_t)i,
		       c->memory + (c->sends + i) * SIZE, SIZE, c->mr);
}

static int floods(const struct conn *c)
{
	return c->manner == FLOOD || c->manner == DRAIN;
}

/* Sends Calls up to the grant and the number of buffers. */
static void fill(struct conn *c)
{
	for (; c->under_way < c->grant && c->under_way < DEPTH; c->under_way++) {
		if (c->manner == FLOOD)
			call(c, 0, 0, 0, 0);
		else
			read_file(c, DRAINED);
	}
	if (did[c->manner].most < c->under_way)
		did[c->manner].most = c->under_way;
}

/* The third word of a Reply is the grant. */
static void replied(struct conn *c, unsigned int i)
{
	uint32_t grant;

	memcpy(&grant, c->memory + (c->sends + i) * SIZE + 8, 4);
	c->grant = ntohl(grant);
	c->under_way--;
	receive(c, i);
	fill(c);
}

static void begin(struct conn *c)
{
	unsigned int i;

	c->since = now();
	switch (c->manner) {
	case WITHHOLD:
		call(c, 0, 0, 0, 0);
		for (i = 0; i < 8; i++)
			call(c, 1, 1, OFFERED, 0);
		break;
	case SLOW:
		for (i = 0; i < 4; i++) {
			call(c, 0, 0, 0, 0);
			call(c, 1, 1, 1, 0);
		}
		break;
	case CHUNKS:
		for (i = 0; i < RECVS; i++)
			receive(c, i);
		break;
	case HOARD:
		call(c, 0, 0, 0, 0);
		for (i = 0; i < 30; i++)
			read_file(c, OFFERED);
		break;
	case FLOOD:
	case DRAIN:
		for (i = 0; i < c->recvs; i++)
			receive(c, i);
		c->under_way = 0;
		c->grant = 1;
		fill(c);
		break;
	case RNR:
		for (i = 0; i < 8; i++)
			call(c, 0, 0, 0, 0);
		break;
	default:
		break;
	}
}

static void let_go(struct conn *c)
{
	rdma_dereg_mr(c->mr);
	rdma_dereg_mr(c->offered);
	free(c->memory);
	rdma_destroy_ep(c->id);
	c->id = NULL;
}

static void end(struct conn *c)
{
	rdma_disconnect(c->id);
	let_go(c);
}

static int establish(struct conn *c)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	/* Both ends retry without limit when they find no Receive. */
	struct rdma_conn_param param = {
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct ibv_qp_attr timer = {
		.min_rnr_timer = c->manner == HOARD ? RNR_TIMER_LONG : RNR_TIMER,
	};

	c->sends = floods(c) ? DEPTH : SENDS;
	c->recvs = floods(c) ? DEPTH : RECVS;
	attr.cap.max_send_wr = 2 * c->sends;
	attr.cap.max_recv_wr = c->recvs;
	if (rdma_getaddrinfo(host, service, &hints, &info))
		die("address");
	if (rdma_create_ep(&c->id, info, NULL, &attr))
		die("endpoint");
	rdma_freeaddrinfo(info);
	c->memory = calloc(c->sends + c->recvs, SIZE);
	c->mr = rdma_reg_msgs(c->id, c->memory, (c->sends + c->recvs) * SIZE);
	c->offered = ibv_reg_mr(c->id->pd, payload, OFFERED, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	if (!c->mr || !c->offered)
		die("memory");
	c->since = now();
	/*
	 * librdmacm confirms the connection when it fetches the event, so its events go to
	 * a channel that is never read.
	 */
	if (c->manner == HALF &&
	    rdma_migrate_id(c->id, rdma_create_event_channel()))
		die("channel");
	if (rdma_connect(c->id, &param)) {
		did[c->manner].refused += errno == ECONNREFUSED;
		/*
		 * rdma_disconnect() would wait for the end of a connection that does not
		 * exist.
		 */
		let_go(c);
		return 0;
	}
	if (c->manner != HALF)
		ibv_modify_qp(c->id->qp, &timer, IBV_QP_MIN_RNR_TIMER);
	did[c->manner].up++;
	begin(c);
	return 1;
}

static void poll_queues(struct conn *c)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(c->id->send_cq, 1, &wc) > 0)
		did[c->manner].taken += wc.status == IBV_WC_SUCCESS;
	while (ibv_poll_cq(c->id->recv_cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			continue;
		did[c->manner].replies++;
		if (c->manner == SLOW)
			did[c->manner].late++;
		if (c->manner == CHUNKS)
			receive(c, wc.wr_id);
		if (floods(c))
			replied(c, wc.wr_id);
	}
}

/*
 * Sends the next messages. "chunks" alternates between a Call with 16 Read chunks of four
 * segments and 8 Write chunks, and one with a Read chunk of 64 segments.
 */
static void act(struct conn *c)
{
	long long waited = now() - c->since;

	if (c->manner == SLOW && waited >= delay) {
		receive(c, 0);
		c->since = now();
	} else if (c->manner == CHUNKS && waited >= PAUSE) {
		if (c->sent % 2)
			call(c, 1, 64, 1, 0);
		else
			call(c, 16, 4, 1, 8);
		c->since = now();
	}
}

/* The only event of an established connection is its end. */
static void look(struct conn *c)
{
	struct pollfd lost = { .events = POLLIN };

	if (!c->id) {
		if (!alone && now() - c->since >= 1000)
			establish(c);
		return;
	}
	if (c->manner == HALF)
		return;
	lost.fd = c->id->channel->fd;
	if (poll(&lost, 1, 0) > 0) {
		did[c->manner].lost++;
		c->since = now();
		end(c);
		return;
	}
	poll_queues(c);
	act(c);
}

/* Flooding connections continue at the next Reply, the others at their next time. */
static void rest(void)
{
	struct conn *who[MANY];
	struct pollfd fds[MANY];
	unsigned int i, n = 0;
	struct ibv_cq *cq;
	void *context;

	for (i = 0; i < count; i++) {
		if (!conns[i].id || !floods(&conns[i]))
			continue;
		ibv_req_notify_cq(conns[i].id->recv_cq, 0);
		poll_queues(&conns[i]);
		fds[n].fd = conns[i].id->recv_cq_channel->fd;
		fds[n].events = POLLIN;
		who[n++] = &conns[i];
	}
	poll(fds, n, 20);
	for (i = 0; i < n; i++)
		if (fds[i].revents & POLLIN &&
		    !ibv_get_cq_event(who[i]->id->recv_cq_channel, &cq, &context))
			ibv_ack_cq_events(cq, 1);
}

static void take_signal(int signal)
{
	if (signal == SIGUSR1)
		alone = 1;
	else
		over = 1;
}

static void report(void)
{
	unsigned int i, have[MANNERS] = { 0 };

	for (i = 0; i < count; i++)
		have[conns[i].manner] += !!conns[i].id;
	for (i = 0; i < MANNERS; i++)
		printf("%s now=%u up=%u lost=%u refused=%u calls=%u taken=%u replies=%u late=%u most=%u\n",
		       names[i], have[i], did[i].up, did[i].lost, did[i].refused,
		       did[i].calls, did[i].taken, did[i].replies, did[i].late,
		       did[i].most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int opt, only = -1;
	unsigned int i;

	while ((opt = getopt(argc, argv, "s:m:")) != -1) {
		if (opt == 's')
			delay = atof(optarg) * 1000;
		for (i = 0; opt == 'm' && i < MANNERS; i++)
			if (!strcmp(names[i], optarg))
				only = i;
	}
	argv += optind - 1;
	if (argc != optind + 3) {
		fputs("usage: crowd [-s SECONDS] [-m MANNER] ADDRESS PORT COUNT\n", stderr);
		return 2;
	}
	host = argv[1];
	service = argv[2];
	count = atoi(argv[3]);
	payload = calloc(1, OFFERED);
	if (count > MANY || !payload)
		die("too many");
	signal(SIGTERM, take_signal);
	signal(SIGUSR1, take_signal);
	for (i = 0; i < count; i++) {
		conns[i].manner = only < 0 ? (int)(i % TURNS) : only;
		establish(&conns[i]);
	}
	puts("ready");
	fflush(stdout);
	while (!over) {
		for (i = 0; i < count && !over; i++)
			look(&conns[i]);
		rest();
	}
	report();
	return 0;
}
