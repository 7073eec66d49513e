// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates a smaller device: while the module is loaded, every RDMA device reports queues
 * of at most max_qp_wr work requests and max_cqe completions, and refuses queue pairs with
 * more than max_created work requests, as drivers do that count blocks of 64 bytes. New
 * connections have these limits; existing connections do not change.
 */
#include <linux/module.h>
#include <linux/xarray.h>

#include <rdma/ib_verbs.h>

static int max_qp_wr = 512;
module_param(max_qp_wr, int, 0444);
MODULE_PARM_DESC(max_qp_wr, "maximum of work requests of a queue (default 512)");

static int max_cqe = INT_MAX;
module_param(max_cqe, int, 0444);
MODULE_PARM_DESC(max_cqe, "maximum of completions of a queue (default: limit of the device)");

static uint max_created = UINT_MAX;
module_param(max_created, uint, 0444);
MODULE_PARM_DESC(max_created, "maximum of work requests of a queue that can be created (default: limit of the device)");

static struct ib_client small_client;

/* All devices have the same driver. */
static int (*driver_create_qp)(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			       struct ib_udata *udata);

static int small_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			   struct ib_udata *udata)
{
	if (max(attr->cap.max_send_wr, attr->cap.max_recv_wr) > max_created)
		return -EINVAL;
	return driver_create_qp(qp, attr, udata);
}

static int small_add(struct ib_device *dev)
{
	if (driver_create_qp && driver_create_qp != dev->ops.create_qp)
		return -EOPNOTSUPP;
	driver_create_qp = dev->ops.create_qp;
	dev->ops.create_qp = small_create_qp;
	ib_set_client_data(dev, &small_client,
			   xa_mk_value((unsigned long)dev->attrs.max_cqe << 31 |
				       dev->attrs.max_qp_wr));
	dev->attrs.max_qp_wr = min_t(u32, dev->attrs.max_qp_wr, max_qp_wr);
	dev->attrs.max_cqe = min_t(u32, dev->attrs.max_cqe, max_cqe);
	return 0;
}

static void small_remove(struct ib_device *dev, void *was)
{
	dev->ops.create_qp = driver_create_qp;
	dev->attrs.max_qp_wr = xa_to_value(was) & INT_MAX;
	dev->attrs.max_cqe = xa_to_value(was) >> 31;
}

static struct ib_client small_client = {
	.name	= "rpcrdma2_small",
	.add	= small_add,
	.remove	= small_remove,
};

static int __init small_init(void)
{
	return ib_register_client(&small_client);
}

static void __exit small_exit(void)
{
	ib_unregister_client(&small_client);
}

module_init(small_init);
module_exit(small_exit);

MODULE_DESCRIPTION("A device with small queues, for tests");
MODULE_LICENSE("GPL");
