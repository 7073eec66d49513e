// SPDX-License-Identifier: GPL-2.0
/*
 * Bindings of the tester to rdma-core: a library that Python calls through ctypes. It
 * handles one connection with its Sends, its Receives and the memory that it exposes. It
 * does not interpret messages; Python does.
 *
 * Functions return 0 or a pointer on success, and a negative errno or NULL with errno on
 * failure. Timeouts are in milliseconds.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define SENDS		64
#define MAX_RECEIVES	128
#define PATIENCE	5000
#define RXE_VENDOR	0xffffff

enum {
	TOOK_MESSAGE = 1,
	TOOK_NOTHING = 0,
	CONNECTION_LOST = -1,
};

struct endpoint {
	struct rdma_cm_id *id;
	const struct endpoint *lender;	/* owner of the buffers, or NULL */
	unsigned char *sends, *receives;
	struct ibv_mr *send_mr, *receive_mr;
	size_t size;		/* bytes of a message buffer */
	unsigned int posted;	/* Receives ever posted */
	unsigned int sent, completed;
	int lost;
	int is_pending;		/* not connected: no request, or none that was answered */
	int is_rxe;
	int keeps_receives;
	int data_length;	/* bytes of the peer's private data */
	unsigned char data[256];
};

struct received {
	uint32_t length;
	uint32_t invalidated;	/* handle, valid if with_invalidate is not 0 */
	int with_invalidate;
	int immediate;
};

struct region {
	void *address;
	uint32_t handle;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void qp_attributes(struct ibv_qp_init_attr *attr)
{
	*attr = (struct ibv_qp_init_attr) {
		.cap = { .max_send_wr = SENDS, .max_recv_wr = MAX_RECEIVES,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

static int buffers(struct endpoint *ep, size_t size)
{
	const struct endpoint *lender = ep->lender;

	if (lender && lender->id->pd == ep->id->pd) {
		ep->size = lender->size;
		ep->sends = lender->sends;
		ep->receives = lender->receives;
		ep->send_mr = lender->send_mr;
		ep->receive_mr = lender->receive_mr;
		return 0;
	}
	ep->lender = NULL;
	ep->size = size;
	ep->sends = calloc(SENDS, size);
	ep->receives = calloc(MAX_RECEIVES, size);
	if (!ep->sends || !ep->receives)
		return -ENOMEM;
	ep->send_mr = rdma_reg_msgs(ep->id, ep->sends, SENDS * size);
	ep->receive_mr = rdma_reg_msgs(ep->id, ep->receives,
				       MAX_RECEIVES * size);
	return ep->send_mr && ep->receive_mr ? 0 : -errno;
}

void ep_close(struct endpoint *ep)
{
	if (!ep)
		return;
	/*
	 * The destruction of the identifier rejects a pending request. rdma_disconnect()
	 * would wait for the end of a connection that does not exist.
	 */
	if (!ep->is_pending)
		rdma_disconnect(ep->id);
	if (!ep->lender && ep->send_mr)
		rdma_dereg_mr(ep->send_mr);
	if (!ep->lender && ep->receive_mr)
		rdma_dereg_mr(ep->receive_mr);
	rdma_destroy_ep(ep->id);
	if (!ep->lender) {
		free(ep->sends);
		free(ep->receives);
	}
	free(ep);
}

/* ep_post_receives - post @count more Receives */
int ep_post_receives(struct endpoint *ep, unsigned int count)
{
	uintptr_t slot;

	while (count--) {
		slot = ep->posted++ % MAX_RECEIVES;
		if (rdma_post_recv(ep->id, (void *)slot,
				   ep->receives + slot * ep->size, ep->size,
				   ep->receive_mr))
			return -errno;
	}
	return 0;
}

static struct endpoint *with_buffers(struct endpoint *ep, size_t size,
				     unsigned int receives)
{
	struct ibv_device_attr attr;
	int ret = buffers(ep, size);

	ep->is_rxe = !ibv_query_device(ep->id->verbs, &attr) &&
		     attr.vendor_id == RXE_VENDOR;
	if (!ret)
		ret = ep_post_receives(ep, receives);
	if (!ret)
		return ep;
	ep_close(ep);
	errno = -ret;
	return NULL;
}

/* With retries of 0, a Send for which the peer has no Receive ends the connection. */
static void parameters(struct rdma_conn_param *param, const void *data,
		       uint8_t length, uint8_t retries)
{
	*param = (struct rdma_conn_param) {
		.private_data = length ? data : NULL,
		.private_data_len = length,
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = retries,
	};
}

/* librdmacm frees the private data of an event when the next event arrives. */
static void keep_data(struct endpoint *ep)
{
	const struct rdma_conn_param *conn;

	if (!ep->id->event)
		return;
	conn = &ep->id->event->param.conn;
	ep->data_length = conn->private_data_len;
	if (ep->data_length)
		memcpy(ep->data, conn->private_data, ep->data_length);
}

/*
 * ep_prepare - create an unconnected endpoint with posted Receives
 *
 * @lender: NULL, or another unconnected endpoint. The new endpoint then uses the buffers of
 * @lender, without registering memory. The caller closes @lender later.
 */
struct endpoint *ep_prepare(const char *host, const char *port, size_t size,
			    unsigned int receives,
			    const struct endpoint *lender)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct ibv_qp_init_attr attr;
	struct endpoint *ep;
	int ret;

	if (rdma_getaddrinfo(host, port, &hints, &info))
		return NULL;
	ep = calloc(1, sizeof(*ep));
	if (ep) {
		ep->lender = lender;
		ep->is_pending = 1;
	}
	qp_attributes(&attr);
	ret = ep ? rdma_create_ep(&ep->id, info, NULL, &attr) : -1;
	rdma_freeaddrinfo(info);
	if (ret) {
		ret = errno;
		free(ep);
		errno = ret;
		return NULL;
	}
	return with_buffers(ep, size, receives);
}

int ep_connect(struct endpoint *ep, const void *data, uint8_t length,
	       uint8_t retries)
{
	struct rdma_conn_param param;

	parameters(&param, data, length, retries);
	if (rdma_connect(ep->id, &param))
		return -errno;
	ep->is_pending = 0;
	keep_data(ep);
	return 0;
}

/*
 * ep_half - make ep_connect() send only its request
 *
 * librdmacm confirms the connection when it fetches the event, so its events go to a channel
 * that is never read. No other function but ep_connect() and ep_completed() may follow.
 */
int ep_half(struct endpoint *ep)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	return channel && !rdma_migrate_id(ep->id, channel) ? 0 : -errno;
}

/* ep_rnr_timer - set the pause that the peer makes when this end has no Receive */
int ep_rnr_timer(struct endpoint *ep, uint8_t timer)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = timer };

	return -ibv_modify_qp(ep->id->qp, &attr, IBV_QP_MIN_RNR_TIMER);
}

struct rdma_cm_id *ep_listen(const char *host, const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP,
				       .ai_flags = RAI_PASSIVE }, *info;
	struct ibv_qp_init_attr attr;
	struct rdma_cm_id *listener;
	int ret;

	if (rdma_getaddrinfo(host, port, &hints, &info))
		return NULL;
	qp_attributes(&attr);
	ret = rdma_create_ep(&listener, info, NULL, &attr);
	rdma_freeaddrinfo(info);
	if (ret)
		return NULL;
	if (!rdma_listen(listener, 64))
		return listener;
	ret = errno;
	rdma_destroy_ep(listener);
	errno = ret;
	return NULL;
}

void ep_unlisten(struct rdma_cm_id *listener)
{
	rdma_destroy_ep(listener);
}

/*
 * ep_request - take the next connection request; ep_accept() answers it
 *
 * The Receives are posted; for @lender see ep_prepare(). Return: NULL with ETIMEDOUT if no
 * request arrives in time.
 */
struct endpoint *ep_request(struct rdma_cm_id *listener, int patience,
			    size_t size, unsigned int receives,
			    const struct endpoint *lender)
{
	struct pollfd fd = { .fd = listener->channel->fd, .events = POLLIN };
	struct endpoint *ep;

	if (poll(&fd, 1, patience) <= 0) {
		errno = ETIMEDOUT;
		return NULL;
	}
	ep = calloc(1, sizeof(*ep));
	if (!ep || rdma_get_request(listener, &ep->id)) {
		free(ep);
		return NULL;
	}
	ep->lender = lender;
	ep->is_pending = 1;
	keep_data(ep);
	return with_buffers(ep, size, receives);
}

int ep_accept(struct endpoint *ep, const void *data, uint8_t length,
	      uint8_t retries)
{
	struct rdma_conn_param param;

	parameters(&param, data, length, retries);
	if (rdma_accept(ep->id, &param))
		return -errno;
	ep->is_pending = 0;
	return 0;
}

/* The peer's private data, including padding from the connection manager */
int ep_private(struct endpoint *ep, void *to, int room)
{
	if (room > ep->data_length)
		room = ep->data_length;
	memcpy(to, ep->data, room);
	return room;
}

/* ep_is_lost - report whether the connection has ended; no other event can occur */
int ep_is_lost(struct endpoint *ep)
{
	struct pollfd fd = { .fd = ep->id->channel->fd, .events = POLLIN };

	if (poll(&fd, 1, 0) > 0)
		ep->lost = 1;
	return ep->lost;
}

/* ep_is_left - wait until the peer has disconnected, even if this end lost the connection */
int ep_is_left(struct endpoint *ep, int patience)
{
	struct pollfd fd = { .fd = ep->id->channel->fd, .events = POLLIN };

	return poll(&fd, 1, patience) > 0;
}

/* Return: 1 for an event of the CQ, 0 for the end of the connection or a timeout. */
static int await(struct endpoint *ep, struct ibv_comp_channel *channel,
		  long long until)
{
	struct pollfd fds[] = {
		{ .fd = channel->fd, .events = POLLIN },
		{ .fd = ep->id->channel->fd, .events = POLLIN },
	};
	long long left = until - now();
	struct ibv_cq *cq;
	void *context;

	poll(fds, ep->lost ? 1 : 2, left > 0 ? (int)left : 0);
	if (!(fds[0].revents & POLLIN))
		return 0;
	if (!ibv_get_cq_event(channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	return 1;
}

static int next_completion(struct endpoint *ep, struct ibv_cq *cq,
			   struct ibv_comp_channel *channel, int patience,
			   struct ibv_wc *wc)
{
	long long until = now() + patience;
	int lost;

	for (;;) {
		lost = ep_is_lost(ep);
		if (ibv_poll_cq(cq, 1, wc) > 0)
			return 1;
		if (lost)
			return CONNECTION_LOST;
		ibv_req_notify_cq(cq, 0);
		if (ibv_poll_cq(cq, 1, wc) > 0)
			return 1;
		if (!await(ep, channel, until) && now() >= until)
			return 0;
	}
}

/*
 * ep_flush - wait until all posted work requests are complete
 *
 * Return: 0, -ECONNRESET if a work request failed, or -ETIMEDOUT.
 */
int ep_flush(struct endpoint *ep, int patience)
{
	struct ibv_wc wc;
	int ret;

	while (ep->completed != ep->sent) {
		ret = next_completion(ep, ep->id->send_cq,
				      ep->id->send_cq_channel, patience, &wc);
		if (!ret)
			return -ETIMEDOUT;
		if (ret < 0)
			return -ECONNRESET;
		if (wc.status != IBV_WC_SUCCESS) {
			ep->lost = 1;
			return -ECONNRESET;
		}
		ep->completed++;
	}
	return 0;
}

/* ep_completed - return the number of work requests that the peer's device has accepted */
unsigned int ep_completed(struct endpoint *ep)
{
	ep_flush(ep, 0);
	return ep->completed;
}

/* A Send with its gather entry */
struct send {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

static void prepare(struct endpoint *ep, struct send *send, unsigned int ahead,
		    const void *message, size_t length)
{
	unsigned char *slot = ep->sends + (ep->sent + ahead) % SENDS * ep->size;

	memcpy(slot, message, length);
	send->sge = (struct ibv_sge) {
		.addr = (uintptr_t)slot,
		.length = length,
		.lkey = ep->send_mr->lkey,
	};
	send->wr = (struct ibv_send_wr) {
		.opcode = IBV_WR_SEND,
		.sg_list = &send->sge,
		.num_sge = length ? 1 : 0,
	};
}

/* Waits until the Send Queue has room for @count work requests, if it has not. */
static int make_room(struct endpoint *ep, unsigned int count)
{
	return ep->sent - ep->completed > SENDS - count ? ep_flush(ep, PATIENCE) : 0;
}

/* Posts a chain of @count work requests. */
static int post(struct endpoint *ep, struct ibv_send_wr *wr, unsigned int count)
{
	struct ibv_send_wr *bad;
	int ret = make_room(ep, count);

	if (ret)
		return ret;
	ret = ibv_post_send(ep->id->qp, wr, &bad);
	if (!ret)
		ep->sent += count;
	return -ret;
}

/* ep_send - post a Send; a nonzero @invalidate makes it a Send With Invalidate */
int ep_send(struct endpoint *ep, const void *message, size_t length,
	    uint32_t invalidate)
{
	struct send send;

	if (length > ep->size)
		return -EMSGSIZE;
	if (make_room(ep, 1))
		return -ECONNRESET;
	prepare(ep, &send, 0, message, length);
	if (invalidate) {
		send.wr.opcode = IBV_WR_SEND_WITH_INV;
		send.wr.invalidate_rkey = invalidate;
	}
	return post(ep, &send.wr, 1);
}

/*
 * ep_send_all - post a Send for each message, with one doorbell
 *
 * @messages: their bytes, without gaps
 * @lengths: their lengths
 *
 * Return: the number of messages posted, which is less than @count if they do
 * not all fit the Send Queue; or a negative errno
 */
int ep_send_all(struct endpoint *ep, const unsigned char *messages,
		const uint32_t *lengths, unsigned int count)
{
	struct send sends[SENDS];
	unsigned int i;
	int ret;

	if (count > SENDS)
		count = SENDS;
	if (make_room(ep, count))
		return -ECONNRESET;
	for (i = 0; i < count; i++) {
		if (lengths[i] > ep->size)
			return -EMSGSIZE;
		prepare(ep, &sends[i], i, messages, lengths[i]);
		messages += lengths[i];
		if (i)
			sends[i - 1].wr.next = &sends[i].wr;
	}
	ret = count ? post(ep, &sends[0].wr, count) : 0;
	return ret ? ret : (int)count;
}

/*
 * soft-RoCE passes its kernel flags to user space unchanged. There, the bit of
 * IBV_WC_IP_CSUM_OK means that the Send invalidated a handle.
 */
static int with_invalidate(const struct endpoint *ep, const struct ibv_wc *wc)
{
	return wc->wc_flags & IBV_WC_WITH_INV ||
	       (ep->is_rxe && wc->wc_flags & IBV_WC_IP_CSUM_OK);
}

/* ep_keep_receives - stop reposting Receives */
void ep_keep_receives(struct endpoint *ep)
{
	ep->keeps_receives = 1;
}

/*
 * ep_receive - take the next message, and repost its Receive
 *
 * Return: TOOK_MESSAGE, TOOK_NOTHING or CONNECTION_LOST.
 */
int ep_receive(struct endpoint *ep, int patience, void *to, size_t room,
	       struct received *got)
{
	struct ibv_wc wc;
	int ret;

	ret = next_completion(ep, ep->id->recv_cq, ep->id->recv_cq_channel,
			      patience, &wc);
	if (ret <= 0)
		return ret;
	if (wc.status != IBV_WC_SUCCESS) {
		ep->lost = 1;
		return CONNECTION_LOST;
	}
	got->length = wc.byte_len;
	got->immediate = !!(wc.wc_flags & IBV_WC_WITH_IMM);
	got->with_invalidate = with_invalidate(ep, &wc);
	got->invalidated = wc.invalidated_rkey;
	if (wc.byte_len < room)
		room = wc.byte_len;
	memcpy(to, ep->receives + wc.wr_id * ep->size, room);
	if (!ep->keeps_receives && ep_post_receives(ep, 1))
		return CONNECTION_LOST;
	return TOOK_MESSAGE;
}

/*
 * ep_descriptors - return two descriptors to poll for ep_receive()
 *
 * The first is readable when the CQ has an event. The second is readable when the
 * connection has ended, and remains readable.
 */
void ep_descriptors(const struct endpoint *ep, int fds[2])
{
	fds[0] = ep->id->recv_cq_channel->fd;
	fds[1] = ep->id->channel->fd;
}

int ep_listener_descriptor(const struct rdma_cm_id *listener)
{
	return listener->channel->fd;
}

/* region_new - allocate memory that the peer may read and write by the region's handle */
struct region *region_new(struct endpoint *ep, size_t length)
{
	struct region *region = calloc(1, sizeof(*region));

	if (!region || posix_memalign(&region->address, 4096, length)) {
		free(region);
		return NULL;
	}
	memset(region->address, 0, length);
	region->mr = ibv_reg_mr(ep->id->pd, region->address, length,
				IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
	if (!region->mr) {
		free(region->address);
		free(region);
		return NULL;
	}
	region->handle = region->mr->rkey;
	return region;
}

/*
 * region_window - replace the region's handle by one that the peer can invalidate
 *
 * The new handle belongs to a memory window of type 2: in user space no peer can invalidate
 * the handle of a memory region.
 */
int region_window(struct endpoint *ep, struct region *region)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	region->mw = ibv_alloc_mw(ep->id->pd, IBV_MW_TYPE_2);
	if (!region->mw)
		return -errno;
	wr.bind_mw.mw = region->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(region->mw->rkey);
	wr.bind_mw.bind_info.mr = region->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)region->address;
	wr.bind_mw.bind_info.length = region->mr->length;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					       IBV_ACCESS_REMOTE_WRITE;
	region->handle = wr.bind_mw.rkey;
	return post(ep, &wr, 1) ? -EIO : ep_flush(ep, PATIENCE);
}

void region_free(struct region *region)
{
	if (region->mw)
		ibv_dealloc_mw(region->mw);
	ibv_dereg_mr(region->mr);
	free(region->address);
	free(region);
}

/*
 * ep_rdma - transfer between a region and the peer's memory, and wait for the end
 *
 * @what: 0 for an RDMA Write, 1 for an RDMA Read, 2 for an RDMA Write With Immediate
 */
int ep_rdma(struct endpoint *ep, int what, struct region *region, size_t at,
	    uint32_t length, uint32_t handle, uint64_t offset)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)region->address + at,
		.length = length,
		.lkey = region->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = opcodes[what],
		.sg_list = &sge,
		.num_sge = length ? 1 : 0,
		.wr.rdma = { .remote_addr = offset, .rkey = handle },
	};
	int ret = post(ep, &wr, 1);

	return ret ? ret : ep_flush(ep, PATIENCE);
}
