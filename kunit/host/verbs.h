/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the verbs and the connection manager that the suites use. Fields that a
 * case does not set are 0. The device's operations are functions of the case.
 *
 * A mapped page belongs to the CPU or to the device; a posted page must belong to the
 * device.
 */
#ifndef _RPCRDMA2_HOST_VERBS_H
#define _RPCRDMA2_HOST_VERBS_H

#include "inet.h"
#include "system.h"

/* <linux/device.h>, <linux/dma-mapping.h> */

struct device {
	u64	*dma_mask;
	u64	coherent_dma_mask;
};

#define dev_name(dev)	((void)(dev), "device")

enum dma_data_direction {
	DMA_BIDIRECTIONAL,
	DMA_TO_DEVICE,
	DMA_FROM_DEVICE,
};

#define DMA_ATTR_SKIP_CPU_SYNC			1
#define DMA_BIT_MASK(n)				(~0ULL >> (64 - (n)))
#define dma_set_mask_and_coherent(dev, mask)	0

/* <linux/scatterlist.h>, without chains */

struct scatterlist {
	struct page	*page;
	unsigned int	offset;
	unsigned int	length;
};

struct sg_table {
	struct scatterlist	*sgl;
	unsigned int		nents;
};

#define for_each_sg(sgl, sg, nents, i) \
	for (i = 0, sg = (sgl); i < (nents); i++, sg++)
#define sg_free_table(table)	kfree((table)->sgl)

static inline void sg_init_table(struct scatterlist *sgl, unsigned int nents)
{
	must_not(!nents);
	memset(sgl, 0, nents * sizeof(*sgl));
}

static inline void sg_set_page(struct scatterlist *sg, struct page *page,
			       unsigned int len, unsigned int offset)
{
	*sg = (struct scatterlist){ page, offset, len };
}

static inline int sg_alloc_table(struct sg_table *table, unsigned int nents,
				 gfp_t gfp)
{
	table->sgl = kmalloc_array(nents, sizeof(*table->sgl), gfp);
	table->nents = nents;
	if (!table->sgl)
		return -ENOMEM;
	sg_init_table(table->sgl, nents);
	return 0;
}

/* <rdma/ib_verbs.h> */

enum ib_mr_type {
	IB_MR_TYPE_MEM_REG,
	IB_MR_TYPE_SG_GAPS,
};

enum {
	IB_ACCESS_LOCAL_WRITE	= 1 << 0,
	IB_ACCESS_REMOTE_WRITE	= 1 << 1,
	IB_ACCESS_REMOTE_READ	= 1 << 2,
};

struct rdma_restrack_entry {
	const char	*kern_name;
};

#define rdma_restrack_no_track(entry)	((void)(entry))

struct ib_mr {
	struct ib_pd			*pd;
	struct rdma_restrack_entry	res;
	u32				rkey;
	u64				iova;
	u64				length;
};

static inline void ib_update_fast_reg_key(struct ib_mr *mr, u8 key)
{
	mr->rkey = (mr->rkey & ~0xffU) | key;
}

enum ib_wc_status {
	IB_WC_SUCCESS,
	IB_WC_LOC_LEN_ERR,
	IB_WC_LOC_PROT_ERR,
	IB_WC_WR_FLUSH_ERR,
	IB_WC_REM_INV_REQ_ERR,
	IB_WC_REM_ACCESS_ERR,
	IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR,
	IB_WC_RNR_RETRY_EXC_ERR,
};

enum ib_wc_opcode {
	IB_WC_SEND,
	IB_WC_RDMA_WRITE,
	IB_WC_RDMA_READ,
	IB_WC_RECV		= 1 << 7,
	IB_WC_RECV_RDMA_WITH_IMM,
};

enum ib_wc_flags {
	IB_WC_WITH_IMM		= 1 << 1,
	IB_WC_WITH_INVALIDATE	= 1 << 3,
};

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE,
	IB_WR_SEND,
	IB_WR_RDMA_READ,
	IB_WR_SEND_WITH_INV,
	IB_WR_RDMA_READ_WITH_INV,
	IB_WR_LOCAL_INV,
	IB_WR_REG_MR,
};

enum ib_send_flags {
	IB_SEND_FENCE		= 1 << 0,
	IB_SEND_SIGNALED	= 1 << 1,
};

enum ib_cq_notify_flags {
	IB_CQ_SOLICITED			= 1 << 0,
	IB_CQ_NEXT_COMP			= 1 << 1,
	IB_CQ_REPORT_MISSED_EVENTS	= 1 << 2,
};

enum ib_poll_context {
	IB_POLL_DIRECT,
	IB_POLL_WORKQUEUE,
};

struct ib_cq {
	struct ib_device	*device;
	void			*cq_context;
	void			(*comp_handler)(struct ib_cq *cq, void *context);
	unsigned int		comp_vector;
};

struct ib_wc;

struct ib_cqe {
	void	(*done)(struct ib_cq *cq, struct ib_wc *wc);
};

struct ib_wc {
	struct ib_cqe		*wr_cqe;
	enum ib_wc_status	status;
	enum ib_wc_opcode	opcode;
	u32			byte_len;
	int			wc_flags;
	struct {
		u32	invalidate_rkey;
	} ex;
};

struct ib_sge {
	u64	addr;
	u32	length;
	u32	lkey;
};

struct ib_send_wr {
	struct ib_send_wr	*next;
	struct ib_cqe		*wr_cqe;
	struct ib_sge		*sg_list;
	int			num_sge;
	enum ib_wr_opcode	opcode;
	int			send_flags;
	struct {
		u32	invalidate_rkey;
	} ex;
};

struct ib_reg_wr {
	struct ib_send_wr	wr;
	struct ib_mr		*mr;
	u32			key;
	int			access;
};

struct ib_recv_wr {
	struct ib_recv_wr	*next;
	struct ib_cqe		*wr_cqe;
	struct ib_sge		*sg_list;
	int			num_sge;
};

enum ib_qp_state {
	IB_QPS_RESET,
	IB_QPS_ERR = 6,
};

enum ib_qp_attr_mask {
	IB_QP_STATE		= 1 << 0,
};

struct ib_qp_attr {
	enum ib_qp_state	qp_state;
};

enum ib_event_type {
	IB_EVENT_QP_FATAL	= 1,
	IB_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST,
	IB_EVENT_SQ_DRAINED,
	IB_EVENT_PATH_MIG,
	IB_EVENT_QP_LAST_WQE_REACHED = 16,
};

struct ib_event {
	enum ib_event_type	event;
};

struct ib_qp;
struct ib_udata;

struct ib_port_data {
	struct {
		u32	core_cap_flags;
	} immutable;
};

enum rdma_node_type {
	RDMA_NODE_IB_CA = 1,
	RDMA_NODE_RNIC = 4,
};

#define IB_DEVICE_MEM_MGT_EXTENSIONS	(1ULL << 21)
#define IBK_SG_GAPS_REG			(1ULL << 3)

struct ib_device_attr {
	int	max_qp_wr;
	u64	device_cap_flags;
	u64	kernel_cap_flags;
	int	max_send_sge;
	int	max_recv_sge;
	int	max_sge_rd;
	int	max_cqe;
	int	max_qp_rd_atom;
	int	max_qp_init_rd_atom;
	u32	max_sgl_rd;
	u32	max_fast_reg_page_list_len;
};

struct ib_device {
	struct device		dev;
	struct device		*dma_device;
	const char		*name;
	u8			node_type;
	struct ib_port_data	*port_data;
	u32			phys_port_cnt;
	struct ib_device_attr	attrs;
	struct {
		int	(*post_send)(struct ib_qp *qp,
				     const struct ib_send_wr *wr,
				     const struct ib_send_wr **bad);
		int	(*post_recv)(struct ib_qp *qp,
				     const struct ib_recv_wr *wr,
				     const struct ib_recv_wr **bad);
		int	(*modify_qp)(struct ib_qp *qp,
				     struct ib_qp_attr *attr, int mask,
				     struct ib_udata *udata);
		void	(*drain_sq)(struct ib_qp *qp);
		void	(*drain_rq)(struct ib_qp *qp);
		struct ib_mr *(*alloc_mr)(struct ib_pd *pd, enum ib_mr_type type,
					  u32 depth);
		int	(*dereg_mr)(struct ib_mr *mr, struct ib_udata *udata);
		int	(*map_mr_sg)(struct ib_mr *mr, struct scatterlist *sg,
				     int nents, unsigned int *offset);
		int	(*poll_cq)(struct ib_cq *cq, int num,
				   struct ib_wc *wc);
		int	(*req_notify_cq)(struct ib_cq *cq,
					 enum ib_cq_notify_flags flags);
	} ops;
};

struct ib_qp {
	struct ib_device	*device;
	struct ib_qp		*real_qp;
	struct ib_cq		*send_cq;
	struct ib_cq		*recv_cq;
	u32			max_write_sge;
};

struct ib_pd {
	struct ib_device		*device;
	struct rdma_restrack_entry	res;
	u32				local_dma_lkey;
};

enum ib_sig_type {
	IB_SIGNAL_ALL_WR,
	IB_SIGNAL_REQ_WR,
};

enum ib_qp_type {
	IB_QPT_RC	= 2,
};

struct ib_qp_init_attr {
	void			(*event_handler)(struct ib_event *event, void *context);
	void			*qp_context;
	struct ib_cq		*send_cq;
	struct ib_cq		*recv_cq;
	enum ib_sig_type	sq_sig_type;
	enum ib_qp_type		qp_type;
	u32			port_num;
	struct {
		u32	max_send_wr;
		u32	max_recv_wr;
		u32	max_send_sge;
		u32	max_recv_sge;
		u32	max_rdma_ctxs;
	} cap;
};

struct ib_pd *ib_alloc_pd(struct ib_device *dev, unsigned int flags);
void ib_dealloc_pd(struct ib_pd *pd);
struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *context, int entries, int vector,
			  enum ib_poll_context where);
struct ib_cq *ib_alloc_cq_any(struct ib_device *dev, void *context, int entries,
			      enum ib_poll_context where);
void ib_free_cq(struct ib_cq *cq);
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth);
#define ib_dereg_mr(mr)	((mr)->pd->device->ops.dereg_mr(mr, NULL))
#define ib_map_mr_sg(mr, sg, nents, offset, page_size) \
	((mr)->pd->device->ops.map_mr_sg(mr, sg, nents, offset))
#define ib_post_send(qp, wr, bad)	((qp)->device->ops.post_send(qp, wr, bad))
#define ib_modify_qp(qp, attr, mask)				\
	((qp)->device->ops.modify_qp((qp)->real_qp, attr, mask, NULL))
#define ib_drain_sq(qp)			((qp)->device->ops.drain_sq(qp))
#define ib_drain_rq(qp)			((qp)->device->ops.drain_rq(qp))
#define ib_req_notify_cq(cq, flags)	((cq)->device->ops.req_notify_cq(cq, flags))
#define ibdev_to_node(dev)		((void)(dev), NUMA_NO_NODE)
#define ib_uses_virt_dma(dev)		(!(dev)->dma_device)
#define ib_dma_mapping_error(dev, addr)	(!(addr))

/* Return: number of completions handled, at most @budget. */
int ib_process_cq_direct(struct ib_cq *cq, int budget);
int ib_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad);
/* A page without a mapping belongs to the CPU. */
bool host_page_is_cpus(const struct page *page);
#define host_page_is_cpus	host_page_is_cpus
u64 ib_dma_map_page(struct ib_device *dev, struct page *page, unsigned long offset,
		    size_t size, enum dma_data_direction dir);
void ib_dma_unmap_page(struct ib_device *dev, u64 addr, size_t size,
		       enum dma_data_direction dir);
#define ib_dma_map_single(dev, at, size, dir) \
	ib_dma_map_page(dev, virt_to_page(at), offset_in_page(at), size, dir)
#define ib_dma_unmap_single	ib_dma_unmap_page
/* For devices that use the addresses of the CPU */
#define ib_dma_map_sg(dev, sg, nents, dir) \
	(must_not(!ib_uses_virt_dma(dev)), (void)(dir), nents)
#define ib_dma_unmap_sg(dev, sg, nents, dir) \
	must_not(!ib_uses_virt_dma(dev) || !(nents))
void dma_unmap_page_attrs(struct device *dev, u64 addr, size_t size,
			  enum dma_data_direction dir, unsigned long attrs);
void ib_dma_sync_single_for_cpu(struct ib_device *dev, u64 addr, size_t size,
				enum dma_data_direction dir);
void ib_dma_sync_single_for_device(struct ib_device *dev, u64 addr, size_t size,
				   enum dma_data_direction dir);

/* <rdma/rdma_cm.h>, <rdma/ib_cm.h>: events and reasons */

enum rdma_cm_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE,
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED,
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
};

enum ib_cm_rej_reason {
	IB_CM_REJ_NO_QP			= 1,
	IB_CM_REJ_INVALID_SERVICE_ID	= 8,
	IB_CM_REJ_STALE_CONN		= 10,
	IB_CM_REJ_CONSUMER_DEFINED	= 28,
};

struct rdma_conn_param {
	const void	*private_data;
	u8		private_data_len;
	u8		responder_resources;
	u8		initiator_depth;
	u8		rnr_retry_count;
};

struct rdma_cm_event {
	enum rdma_cm_event_type	event;
	int			status;
	union {
		struct rdma_conn_param	conn;
	} param;
};

/* <rdma/ib_addr.h>, <rdma/ib_sa.h>: the cases define the functions that resolve routes */

enum {
	RDMA_CORE_CAP_PROT_IB			= 1 << 0,
	RDMA_CORE_CAP_PROT_IWARP		= 1 << 1,
	RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP	= 1 << 2,
	RDMA_CORE_CAP_IB_CM			= 1 << 3,
	RDMA_CORE_PORT_IWARP			= RDMA_CORE_CAP_PROT_IWARP,
	RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP	= RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
						  RDMA_CORE_CAP_IB_CM,
	RDMA_CORE_PORT_RAW_PACKET		= 1 << 4,
};

enum {
	RDMA_NETWORK_IB,
	RDMA_NETWORK_ROCE_V1,
	RDMA_NETWORK_IPV4,
};

enum sa_path_rec_type {
	SA_PATH_REC_TYPE_IB,
	SA_PATH_REC_TYPE_ROCE_V2,
};

union ib_gid {
	u8	raw[16];
	struct {
		__be64	subnet_prefix;
		__be64	interface_id;
	} global;
};

struct ib_gid_attr {
	union ib_gid	gid;
};

struct sa_path_rec {
	enum sa_path_rec_type	rec_type;
	union ib_gid		dgid;
	union ib_gid		sgid;
	struct {
		__be16	dlid;
	} ib;
	struct {
		u8	dmac[ETH_ALEN];
	} roce;
};

struct rdma_dev_addr {
	unsigned char			src_dev_addr[32];
	unsigned char			dst_dev_addr[32];
	const struct ib_gid_attr	*sgid_attr;
	struct net			*net;
	int				network;
};

#define sa_path_get_dmac(path)	((path)->roce.dmac)
#define sa_path_get_dlid(path)	cpu_to_be32(ntohs((path)->ib.dlid))
#define sa_path_is_roce(path)	((path)->rec_type == SA_PATH_REC_TYPE_ROCE_V2)
#define rdma_cap_ib_cm(dev, port)				\
	(!!((dev)->port_data[port].immutable.core_cap_flags &	\
	    RDMA_CORE_CAP_IB_CM))
#define rdma_ib_or_roce(dev, port)				\
	((dev)->port_data[port].immutable.core_cap_flags &	\
	 (RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP))
#define rdma_protocol_iwarp(dev, port)				\
	((dev)->port_data[port].immutable.core_cap_flags &	\
	 RDMA_CORE_CAP_PROT_IWARP)

/* <rdma/rw.h>: sizes as the RDMA core computes them; no case carries out a transfer. */

struct rdma_rw_ctx {
	unsigned int	nr_ops;
};

static inline bool host_rw_can_use_mr(const struct ib_device *dev, u32 port)
{
	return rdma_protocol_iwarp(dev, port) || dev->attrs.max_sgl_rd;
}

static inline unsigned int rdma_rw_mr_factor(const struct ib_device *dev, u32 port,
					     unsigned int pages)
{
	u32 most = host_rw_can_use_mr(dev, port) ?
		   min(dev->attrs.max_fast_reg_page_list_len, 256U) :
		   (u32)dev->attrs.max_sge_rd;

	return DIV_ROUND_UP(pages, most);
}

static inline unsigned int rdma_rw_max_send_wr(const struct ib_device *dev, u32 port,
					       unsigned int ctxs, u32 flags)
{
	return host_rw_can_use_mr(dev, port) ? 3 * ctxs : ctxs;
}

int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
		     struct scatterlist *sgl, u32 nents, u32 offset, u64 remote,
		     u32 rkey, enum dma_data_direction dir);
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
				   struct ib_cqe *cqe, struct ib_send_wr *last);
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
			 struct scatterlist *sgl, u32 nents,
			 enum dma_data_direction dir);

/* An IPv4 address if the GID contains one, otherwise IPv6 */
static inline void rdma_gid2ip(struct sockaddr *sa, const union ib_gid *gid)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)sa;
	struct sockaddr_in *sin = (struct sockaddr_in *)sa;
	struct in6_addr addr;

	memcpy(&addr, gid, sizeof(addr));
	if (IN6_IS_ADDR_V4MAPPED(&addr)) {
		sin->sin_family = AF_INET;
		memcpy(&sin->sin_addr, gid->raw + 12, 4);
	} else {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_addr = addr;
	}
}

static inline void ipv6_addr_set_v4mapped(in_addr_t addr, struct in6_addr *mapped)
{
	memset(mapped->s6_addr, 0, 10);
	memset(mapped->s6_addr + 10, 0xff, 2);
	memcpy(mapped->s6_addr + 12, &addr, 4);
}

struct rdma_cm_id;

typedef int rdma_cm_event_handler(struct rdma_cm_id *id, struct rdma_cm_event *event);

struct rdma_cm_id {
	struct ib_device	*device;
	void			*context;
	struct ib_qp		*qp;
	rdma_cm_event_handler	*event_handler;
	u32			port_num;
	struct {
		struct {
			struct sockaddr_storage	src_addr;
			struct sockaddr_storage	dst_addr;
			struct rdma_dev_addr	dev_addr;
		} addr;
		struct sa_path_rec	*path_rec;
	} route;
};

#define RDMA_PS_TCP		0x106
#define IB_RNR_TIMER_000_64	14

struct rdma_cm_id *rdma_create_id(struct net *net, rdma_cm_event_handler *handler,
				  void *context, int space, enum ib_qp_type type);
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *sa);
int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr);
void rdma_destroy_id(struct rdma_cm_id *id);
void rdma_destroy_qp(struct rdma_cm_id *id);
int rdma_disconnect(struct rdma_cm_id *id);
int rdma_listen(struct rdma_cm_id *id, int backlog);
void rdma_lock_handler(struct rdma_cm_id *id);
int rdma_set_afonly(struct rdma_cm_id *id, int only);
int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 timer);
void rdma_unlock_handler(struct rdma_cm_id *id);

#endif /* _RPCRDMA2_HOST_VERBS_H */
