// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the cost of the messages of an RPC without the RPC layer: requester and
 * responder use bare verbs on the device with the given address. Per operation the
 * requester sends CALL bytes; the responder reads READ bytes by RDMA Read, writes WRITE
 * bytes by RDMA Write, and sends REPLY bytes.
 *
 * This is the lower limit for a transport: all memory is allocated, mapped and
 * registered in advance, nothing is invalidated, the payload is contiguous on both
 * sides, completion handlers do all the work, and one Send in 16 is signaled.
 *
 *	echo ADDRESS CALL REPLY READ WRITE DEPTH OPERATIONS > .../floor
 *	cat .../floor
 *
 * The first command connects and warms up. The second one runs the operations and
 * prints their duration in nanoseconds. The connection stays until the next one.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define FLOOR_PORT	20051
#define FLOOR_SLOTS	64
#define FLOOR_PAYLOAD	(SZ_1M + SZ_4K)	/* of 1 MiB, and what GSS adds */
#define FLOOR_MESSAGE	SZ_64K
#define FLOOR_SIGNAL	16
#define FLOOR_TIMEOUT	(60 * HZ)

/* A Receive, and the RDMA Read that it may trigger */
struct floor_slot {
	struct floor_end	*sl_end;
	struct ib_cqe		 sl_recv_cqe;
	struct ib_cqe		 sl_read_cqe;
	void			*sl_buffer;
	u64			 sl_dma;
};

struct floor_end {
	struct rdma_cm_id	*en_id;
	struct ib_pd		*en_pd;
	struct ib_cq		*en_send_cq;
	struct ib_cq		*en_recv_cq;
	struct ib_cqe		 en_send_cqe;
	atomic_t		 en_sends;
	void			*en_message;
	u64			 en_message_dma;
	void			*en_payload;
	u64			 en_payload_dma;
	enum dma_data_direction	 en_payload_dir;
	struct ib_mr		*en_mr;
	struct floor_slot	 en_slots[FLOOR_SLOTS];
	struct completion	 en_event;
	int			 en_error;
};

/* The connection; protected by floor_mutex */
static DEFINE_MUTEX(floor_mutex);
static struct floor_end requester, responder;
static struct rdma_cm_id *listener;
static unsigned int call_size, reply_size, read_size, write_size;
static unsigned int depth, ops, wanted;
static unsigned int finished;	/* the requester's Receive handler only */
static atomic_t started;
static struct completion floor_done;
static int floor_error;
static struct dentry *dir;

static void floor_fail(int error)
{
	floor_error = error;
	complete(&floor_done);
}

static void floor_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS && wc->status != IB_WC_WR_FLUSH_ERR)
		floor_fail(-EIO);
}

static int post_recv(struct floor_slot *slot)
{
	struct ib_sge sge = {
		.addr	= slot->sl_dma,
		.length	= FLOOR_MESSAGE,
		.lkey	= slot->sl_end->en_pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &slot->sl_recv_cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	return ib_post_recv(slot->sl_end->en_id->qp, &wr, NULL);
}

/* @first, @last: chain of work requests to post in front of the Send, or NULL */
static int post_send(struct floor_end *end, unsigned int length,
		     struct ib_send_wr *first, struct ib_send_wr *last)
{
	struct ib_sge sge = {
		.addr	= end->en_message_dma,
		.length	= length,
		.lkey	= end->en_pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe		= &end->en_send_cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
	};

	if (atomic_inc_return(&end->en_sends) % FLOOR_SIGNAL == 0)
		wr.send_flags = IB_SEND_SIGNALED;
	if (first)
		last->next = &wr;
	return ib_post_send(end->en_id->qp, first ?: &wr, NULL);
}

static void payload_wr(struct ib_rdma_wr *wr, struct ib_sge *sge,
		       enum ib_wr_opcode opcode, unsigned int length)
{
	sge->addr = responder.en_payload_dma;
	sge->length = length;
	sge->lkey = responder.en_pd->local_dma_lkey;
	*wr = (struct ib_rdma_wr) {
		.wr = {
			.wr_cqe		= &responder.en_send_cqe,
			.sg_list	= sge,
			.num_sge	= 1,
			.opcode		= opcode,
		},
		.remote_addr	= requester.en_mr->iova,
		.rkey		= requester.en_mr->rkey,
	};
}

/* Start the next operation, if any is left. */
static int floor_call(struct floor_slot *slot)
{
	if (atomic_inc_return(&started) > ops)
		return 0;
	return post_recv(slot) ?:
	       post_send(&requester, call_size, NULL, NULL);
}

static int floor_reply(void)
{
	struct ib_rdma_wr write;
	struct ib_sge sge;

	if (!write_size)
		return post_send(&responder, reply_size, NULL, NULL);
	payload_wr(&write, &sge, IB_WR_RDMA_WRITE, write_size);
	return post_send(&responder, reply_size, &write.wr, &write.wr);
}

static void floor_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	int rc;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	rc = wc->status == IB_WC_SUCCESS ? floor_reply() : -EIO;
	if (rc)
		floor_fail(rc);
}

static int floor_read(struct floor_slot *slot)
{
	struct ib_rdma_wr read;
	struct ib_sge sge;

	payload_wr(&read, &sge, IB_WR_RDMA_READ, read_size);
	read.wr.wr_cqe = &slot->sl_read_cqe;
	read.wr.send_flags = IB_SEND_SIGNALED;
	return ib_post_send(responder.en_id->qp, &read.wr, NULL);
}

static void floor_called(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_slot *slot = container_of(wc->wr_cqe, struct floor_slot,
					       sl_recv_cqe);
	int rc = -EIO;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	if (wc->status == IB_WC_SUCCESS && wc->byte_len == call_size)
		rc = post_recv(slot) ?:
		     read_size ? floor_read(slot) : floor_reply();
	if (rc)
		floor_fail(rc);
}

static void floor_replied(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_slot *slot = container_of(wc->wr_cqe, struct floor_slot,
					       sl_recv_cqe);
	int rc = 0;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	if (wc->status != IB_WC_SUCCESS || wc->byte_len != reply_size)
		rc = -EIO;
	else if (++finished == ops)
		complete(&floor_done);
	else
		rc = floor_call(slot);
	if (rc)
		floor_fail(rc);
}

static void *floor_memory(struct ib_device *dev, size_t size,
			  enum dma_data_direction dir, u64 *dma)
{
	void *p = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);

	if (!p)
		return NULL;
	*dma = ib_dma_map_single(dev, p, size, dir);
	if (!ib_dma_mapping_error(dev, *dma))
		return p;
	free_pages_exact(p, size);
	return NULL;
}

static void floor_free(struct ib_device *dev, void *p, size_t size,
		       enum dma_data_direction dir, u64 dma)
{
	if (!p)
		return;
	ib_dma_unmap_single(dev, dma, size, dir);
	free_pages_exact(p, size);
}

static int end_slots(struct floor_end *end, struct ib_device *dev,
		     void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct floor_slot *slot;

	for (slot = end->en_slots; slot < end->en_slots + depth; slot++) {
		slot->sl_end = end;
		slot->sl_recv_cqe.done = done;
		slot->sl_read_cqe.done = floor_read_done;
		slot->sl_buffer = floor_memory(dev, FLOOR_MESSAGE,
					       DMA_FROM_DEVICE, &slot->sl_dma);
		if (!slot->sl_buffer)
			return -ENOMEM;
	}
	return 0;
}

/* end_down() releases the resources, also after a failure. */
static int end_up(struct floor_end *end, enum dma_data_direction dir,
		  void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_device *dev = end->en_id->device;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr	= 4 * FLOOR_SLOTS,
			.max_recv_wr	= 2 * FLOOR_SLOTS,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
	};

	end->en_send_cqe.done = floor_sent;
	end->en_payload_dir = dir;
	end->en_pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(end->en_pd)) {
		end->en_pd = NULL;
		return -ENOMEM;
	}
	end->en_send_cq = ib_alloc_cq_any(dev, end, 4 * FLOOR_SLOTS,
					  IB_POLL_WORKQUEUE);
	if (IS_ERR(end->en_send_cq)) {
		end->en_send_cq = NULL;
		return -ENOMEM;
	}
	end->en_recv_cq = ib_alloc_cq_any(dev, end, 2 * FLOOR_SLOTS,
					  IB_POLL_WORKQUEUE);
	if (IS_ERR(end->en_recv_cq)) {
		end->en_recv_cq = NULL;
		return -ENOMEM;
	}
	end->en_message = floor_memory(dev, FLOOR_MESSAGE, DMA_TO_DEVICE,
				       &end->en_message_dma);
	end->en_payload = floor_memory(dev, FLOOR_PAYLOAD, dir,
				       &end->en_payload_dma);
	if (!end->en_message || !end->en_payload ||
	    end_slots(end, dev, done))
		return -ENOMEM;
	attr.send_cq = end->en_send_cq;
	attr.recv_cq = end->en_recv_cq;
	return rdma_create_qp(end->en_id, end->en_pd, &attr);
}

static void end_down(struct floor_end *end)
{
	struct floor_slot *slot;
	struct ib_device *dev;

	if (!end->en_id)
		return;
	dev = end->en_id->device;
	if (end->en_id->qp) {
		rdma_disconnect(end->en_id);
		ib_drain_qp(end->en_id->qp);
		rdma_destroy_qp(end->en_id);
	}
	if (end->en_mr)
		ib_dereg_mr(end->en_mr);
	for (slot = end->en_slots; slot < end->en_slots + FLOOR_SLOTS; slot++)
		floor_free(dev, slot->sl_buffer, FLOOR_MESSAGE,
			   DMA_FROM_DEVICE, slot->sl_dma);
	floor_free(dev, end->en_payload, FLOOR_PAYLOAD, end->en_payload_dir,
		   end->en_payload_dma);
	floor_free(dev, end->en_message, FLOOR_MESSAGE, DMA_TO_DEVICE,
		   end->en_message_dma);
	if (end->en_recv_cq)
		ib_free_cq(end->en_recv_cq);
	if (end->en_send_cq)
		ib_free_cq(end->en_send_cq);
	if (end->en_pd)
		ib_dealloc_pd(end->en_pd);
	rdma_destroy_id(end->en_id);
}

static void fill_param(struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param) {
		.responder_resources	= 16,
		.initiator_depth	= 16,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
	};
}

static int accept_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param;
	unsigned int i;
	int rc;

	responder.en_id = id;
	rc = end_up(&responder, DMA_BIDIRECTIONAL, floor_called);
	for (i = 0; !rc && i < depth; i++)
		rc = post_recv(&responder.en_slots[i]);
	fill_param(&param);
	rc = rc ?: rdma_accept(id, &param);
	/* Return 0 to keep the id; end_down() destroys it. */
	if (rc)
		floor_fail(rc);
	return 0;
}

static int floor_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return responder.en_id ? -EBUSY : accept_it(id);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		requester.en_error = 0;
		complete(&requester.en_event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id != requester.en_id)
			break;
		requester.en_error = 0;
		complete(&requester.en_event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		requester.en_error = -ECONNREFUSED;
		complete(&requester.en_event);
		break;
	default:
		break;
	}
	return 0;
}

static int floor_wait(int rc)
{
	if (rc)
		return rc;
	if (!wait_for_completion_timeout(&requester.en_event, FLOOR_TIMEOUT))
		return -ETIMEDOUT;
	return requester.en_error;
}

/* The payload's region, registered once */
static int register_payload(void)
{
	struct scatterlist sg;
	struct ib_reg_wr wr = {
		.wr.wr_cqe	= &requester.en_send_cqe,
		.wr.opcode	= IB_WR_REG_MR,
		.access		= IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_READ |
				  IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_mr *mr;

	mr = ib_alloc_mr(requester.en_pd, IB_MR_TYPE_MEM_REG,
			 FLOOR_PAYLOAD / PAGE_SIZE);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	requester.en_mr = mr;
	sg_init_one(&sg, requester.en_payload, FLOOR_PAYLOAD);
	sg_dma_address(&sg) = requester.en_payload_dma;
	sg_dma_len(&sg) = FLOOR_PAYLOAD;
	if (ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	wr.mr = mr;
	wr.key = mr->rkey;
	return ib_post_send(requester.en_id->qp, &wr.wr, NULL);
}

static int floor_connect(struct sockaddr *addr)
{
	struct rdma_conn_param param;
	int rc;

	listener = rdma_create_id(&init_net, floor_event, NULL, RDMA_PS_TCP,
				  IB_QPT_RC);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	rc = rdma_bind_addr(listener, addr);
	rc = rc ?: rdma_listen(listener, 1);
	if (rc)
		return rc;
	requester.en_id = rdma_create_id(&init_net, floor_event, NULL,
					 RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(requester.en_id)) {
		requester.en_id = NULL;
		return -ENOMEM;
	}
	rc = floor_wait(rdma_resolve_addr(requester.en_id, NULL, addr, 2000));
	rc = rc ?: floor_wait(rdma_resolve_route(requester.en_id, 2000));
	rc = rc ?: end_up(&requester, DMA_BIDIRECTIONAL, floor_replied);
	if (rc)
		return rc;
	fill_param(&param);
	rc = floor_wait(rdma_connect(requester.en_id, &param));
	return rc ?: register_payload();
}

/* Start @n operations and wait; the completion handlers do the rest. */
static int floor_ops(unsigned int n)
{
	unsigned int i;
	int rc = 0;

	ops = n;
	atomic_set(&started, 0);
	finished = 0;
	for (i = 0; !rc && i < depth; i++)
		rc = floor_call(&requester.en_slots[i]);
	if (rc)
		return rc;
	if (!wait_for_completion_timeout(&floor_done, FLOOR_TIMEOUT))
		return -ETIMEDOUT;
	return floor_error;
}

static void floor_down(void)
{
	end_down(&requester);
	end_down(&responder);
	if (!IS_ERR_OR_NULL(listener))
		rdma_destroy_id(listener);
	listener = NULL;
	memset(&requester, 0, sizeof(requester));
	memset(&responder, 0, sizeof(responder));
}

static int floor_up(const char *address)
{
	struct sockaddr_in sin = {
		.sin_family	= AF_INET,
		.sin_port	= htons(FLOOR_PORT),
		.sin_addr.s_addr = in_aton(address),
	};
	int rc;

	init_completion(&requester.en_event);
	init_completion(&floor_done);
	floor_error = 0;
	rc = floor_connect((struct sockaddr *)&sin);
	rc = rc ?: floor_ops(2 * FLOOR_SIGNAL);
	if (rc)
		floor_down();
	return rc;
}

static ssize_t floor_write(struct file *file, const char __user *from,
			   size_t count, loff_t *pos)
{
	char text[128], address[32];
	ssize_t got;
	int rc;

	got = simple_write_to_buffer(text, sizeof(text) - 1, pos, from, count);
	if (got < 0)
		return got;
	text[got] = 0;
	mutex_lock(&floor_mutex);
	floor_down();
	rc = -EINVAL;
	if (sscanf(text, "%31s %u %u %u %u %u %u", address, &call_size,
		   &reply_size, &read_size, &write_size, &depth,
		   &wanted) == 7 &&
	    call_size <= FLOOR_MESSAGE && reply_size <= FLOOR_MESSAGE &&
	    read_size <= FLOOR_PAYLOAD && write_size <= FLOOR_PAYLOAD &&
	    depth && depth <= FLOOR_SLOTS && wanted)
		rc = floor_up(address);
	mutex_unlock(&floor_mutex);
	return rc ?: got;
}

static int floor_show(struct seq_file *seq, void *unused)
{
	u64 before;
	int rc = -ENOTCONN;

	mutex_lock(&floor_mutex);
	if (requester.en_id) {
		before = ktime_get_raw_ns();
		rc = floor_ops(wanted);
		seq_printf(seq, "%llu\n", ktime_get_raw_ns() - before);
	}
	mutex_unlock(&floor_mutex);
	return rc;
}

static int floor_open(struct inode *inode, struct file *file)
{
	return single_open(file, floor_show, NULL);
}

static const struct file_operations floor_fops = {
	.owner		= THIS_MODULE,
	.open		= floor_open,
	.read		= seq_read,
	.write		= floor_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init floor_init(void)
{
	dir = debugfs_create_dir("rpcrdma2_floor", NULL);
	debugfs_create_file("floor", 0600, dir, NULL, &floor_fops);
	return 0;
}
module_init(floor_init);

static void __exit floor_exit(void)
{
	debugfs_remove_recursive(dir);
	floor_down();
}
module_exit(floor_exit);

MODULE_DESCRIPTION("Messages of an RPC on bare verbs, as a reference for measurements");
MODULE_LICENSE("GPL");
