// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates a smaller device: while the module is loaded, every RDMA device reports queues
 * of at most max_qp_wr work requests and max_cqe completions. New connections have these
 * limits; existing connections do not change.
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

static struct ib_client small_client;

static int small_add(struct ib_device *dev)
{
	ib_set_client_data(dev, &small_client,
			   xa_mk_value((unsigned long)dev->attrs.max_cqe << 31 |
				       dev->attrs.max_qp_wr));
	dev->attrs.max_qp_wr = min_t(u32, dev->attrs.max_qp_wr, max_qp_wr);
	dev->attrs.max_cqe = min_t(u32, dev->attrs.max_cqe, max_cqe);
	return 0;
}

static void small_remove(struct ib_device *dev, void *was)
{
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
