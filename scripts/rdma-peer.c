// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that says what it is told to: connects to an RDMA service, sends what
 * is on a line of its input, prints what comes back on one line.
 *
 *	rdma-peer [-n] ADDRESS PORT [PRIVATE]
 *
 * Messages and private data are in hex, blanks ignored. A line may have several
 * messages or none; one that ends in "-" expects no answer, and waits less. An
 * answer is "-" when there is none, "closed" when the connection is lost. On
 * both sides several messages are separated by " + ". One that came with an
 * invalidation is marked "inv". "immediate" stands for no message, but an RDMA
 * Write with Immediate of no octets, which takes no handle.
 *
 * A megabyte is there for the service to read and write. What follows "=" on a
 * line goes to the beginning of it; "H" in a message is its handle, "M" and four
 * hex digits the address of the octet of that number. "X" is the xid of the message
 * that came last.
 *
 * With -n no Receives are posted, and the service is to try again without end:
 * its first Send, and what follows on its Send Queue, stays under way. The
 * messages of a line are then posted at once. A line that begins with "!" is a
 * command:
 *
 *	!receive N	post N Receives; prints nothing
 *	!sleep N	for N seconds; prints nothing
 *	!set VALUE FILE	write it there; prints nothing
 *	!wait N		for at most N seconds, until the connection is lost;
 *			prints "closed after N", or "-"
 */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define RECVS		16
#define SENDS		32
#define SIZE		65536
#define OFFERED		(1 << 20)

/* How long an answer is waited for, in ms; one that is not expected; another */
#define PATIENCE	3000
#define SILENCE		100
#define ANOTHER		5

static struct rdma_cm_id *id;
static struct ibv_mr *mr, *offered;
static unsigned char *memory;
static int silent;
static uint32_t last_xid;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static unsigned char *slot(int i)
{
	return memory + (size_t)i * SIZE;
}

static size_t put_number(unsigned char *to, size_t n, uint64_t value, int octets)
{
	while (octets--)
		to[n++] = value >> octets * 8;
	return n;
}

static size_t from_hex(const char *hex, unsigned char *to, size_t max)
{
	unsigned int octet;
	size_t n = 0;
	int digit, high = -1;

	for (; *hex && n < max - 8; hex++) {
		if (isspace((unsigned char)*hex))
			continue;
		if (*hex == 'H') {
			n = put_number(to, n, offered->rkey, 4);
			continue;
		}
		if (*hex == 'X') {
			n = put_number(to, n, last_xid, 4);
			continue;
		}
		if (*hex == 'M' && sscanf(hex + 1, "%4x", &octet) == 1) {
			n = put_number(to, n, (uintptr_t)offered->addr + octet,
				       8);
			hex += 4;
			continue;
		}
		if (!isxdigit((unsigned char)*hex)) {
			fprintf(stderr, "not hex: %s\n", hex);
			exit(2);
		}
		digit = isdigit((unsigned char)*hex) ? *hex - '0' :
			tolower((unsigned char)*hex) - 'a' + 10;
		if (high < 0) {
			high = digit;
		} else {
			to[n++] = high << 4 | digit;
			high = -1;
		}
	}
	return n;
}

static void post_recv(int i)
{
	if (rdma_post_recv(id, (void *)(uintptr_t)(i + 1), slot(i), SIZE, mr))
		die("post receive");
}

static void establish(const char *host, const char *port, const char *private)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECVS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	/* A server that has no Receive for a message loses its connection. */
	struct rdma_conn_param param = {
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 0,
	};
	unsigned char data[64];
	int i;

	if (rdma_getaddrinfo(host, port, &hints, &info))
		die("address");
	if (rdma_create_ep(&id, info, NULL, &attr))
		die("endpoint");
	memory = calloc(RECVS + SENDS, SIZE);
	mr = memory ? rdma_reg_msgs(id, memory, (RECVS + SENDS) * SIZE) : NULL;
	if (!mr)
		die("memory");
	offered = ibv_reg_mr(id->pd, calloc(1, OFFERED), OFFERED,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			     IBV_ACCESS_REMOTE_WRITE);
	if (!offered)
		die("offered memory");
	for (i = 0; i < RECVS && !silent; i++)
		post_recv(i);
	if (silent)
		param.rnr_retry_count = 7;
	if (private) {
		param.private_data = data;
		param.private_data_len = from_hex(private, data, sizeof(data));
	}
	if (rdma_connect(id, &param))
		die("connect");
	rdma_freeaddrinfo(info);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/*
 * Returns 1 for a message, 0 for none in time, -1 for a lost connection. The
 * only event of an established connection is its end, which says nothing to the
 * queue pair.
 */
static int next_message(struct ibv_wc *wc, int patience)
{
	struct pollfd events = { .fd = id->channel->fd, .events = POLLIN };
	long long end = now() + patience;
	int lost = 0;

	for (;;) {
		if (ibv_poll_cq(id->recv_cq, 1, wc) > 0)
			return wc->status == IBV_WC_SUCCESS ? 1 : -1;
		if (lost)
			return -1;
		if (now() >= end)
			return 0;
		lost = poll(&events, 1, 1) > 0;
	}
}

static void print_message(const struct ibv_wc *wc)
{
	const unsigned char *p = slot((int)wc->wr_id - 1);
	uint32_t i;

	if (wc->byte_len >= 4)
		last_xid = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	for (i = 0; i < wc->byte_len; i++)
		printf("%02x%s", p[i], i % 4 == 3 && i + 1 < wc->byte_len ?
		       " " : "");
	if (wc->wc_flags & IBV_WC_WITH_INV)
		printf(" inv");
}

/* Once something has come only what is under way already is waited for. */
static int print_answers(int patience)
{
	int count = 0, ret;
	struct ibv_wc wc;

	while ((ret = next_message(&wc, count ? ANOTHER : patience)) > 0) {
		if (count++)
			printf(" + ");
		print_message(&wc);
		post_recv((int)wc.wr_id - 1);
	}
	if (ret < 0)
		printf("%sclosed", count ? " + " : "");
	else if (!count)
		printf("-");
	printf("\n");
	fflush(stdout);
	return ret;
}

static int post_immediate(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM };
	struct ibv_send_wr *bad;

	return ibv_post_send(id->qp, &wr, &bad);
}

/* Sends that are not done: none, or with -n those of the line */
static int sending;

static void wait_for_sends(void)
{
	struct ibv_wc wc;

	while (sending) {
		if (ibv_poll_cq(id->send_cq, 1, &wc) > 0)
			sending--;
		else
			poll(NULL, 0, 1);
	}
}

static void send_message(const char *hex)
{
	int immediate = strstr(hex, "immediate") != NULL;
	unsigned char *at = slot(RECVS + sending);
	size_t len = immediate ? 0 : from_hex(hex, at, SIZE);

	if (!len && !immediate)
		return;
	if (immediate ? post_immediate() :
	    rdma_post_send(id, NULL, at, len, mr, 0))
		die("post send");
	if (++sending == SENDS || !silent)
		wait_for_sends();
}

static int wait_for_loss(int seconds)
{
	struct pollfd fd = { .fd = id->channel->fd, .events = POLLIN };
	long long begin = now();
	int lost = poll(&fd, 1, seconds * 1000) > 0;

	if (lost)
		printf("closed after %lld\n", (now() - begin + 500) / 1000);
	else
		printf("-\n");
	fflush(stdout);
	return lost ? -1 : 0;
}

static int obey(const char *command)
{
	static int posted;
	char value[32], name[256];
	FILE *file;
	int n;

	if (sscanf(command, "!receive %d", &n) == 1) {
		while (n--)
			post_recv(posted++ % RECVS);
		return 0;
	}
	if (sscanf(command, "!sleep %d", &n) == 1) {
		poll(NULL, 0, n * 1000);
		return 0;
	}
	if (sscanf(command, "!set %31s %255s", value, name) == 2) {
		file = fopen(name, "w");
		if (!file || fputs(value, file) < 0 || fclose(file))
			die(name);
		return 0;
	}
	if (sscanf(command, "!wait %d", &n) == 1)
		return wait_for_loss(n);
	fprintf(stderr, "not a command: %s\n", command);
	exit(2);
}

int main(int argc, char **argv)
{
	static char line[4 * SIZE];
	char *message, *end;
	int patience;

	if (argc > 1 && !strcmp(argv[1], "-n")) {
		silent = 1;
		argc--;
		argv++;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: rdma-peer [-n] ADDRESS PORT [PRIVATE]\n");
		return 2;
	}
	establish(argv[1], argv[2], argv[3]);
	while (fgets(line, sizeof(line), stdin)) {
		if (*line == '=') {
			from_hex(line + 1, offered->addr, OFFERED);
			continue;
		}
		if (*line == '!') {
			if (obey(line) < 0)
				return 1;
			continue;
		}
		end = strchr(line, '-');
		patience = end ? SILENCE : PATIENCE;
		if (end)
			*end = '\0';
		for (message = strtok(line, "+"); message;
		     message = strtok(NULL, "+"))
			send_message(message);
		wait_for_sends();
		if (print_answers(patience) < 0)
			return 1;
	}
	rdma_disconnect(id);
	return 0;
}
