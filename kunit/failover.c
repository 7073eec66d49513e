// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates a bond that fails over to another link: on load the module sends the kernel's
 * notification for an interface whose address was changed before. The interface need not be
 * a bond.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

static char *interface = "d0";
module_param(interface, charp, 0444);
MODULE_PARM_DESC(interface, "name of the interface (default d0)");

static int __init failover_init(void)
{
	struct net_device *dev;
	int ret = -ENODEV;

	rtnl_lock();
	dev = __dev_get_by_name(&init_net, interface);
	if (dev) {
		dev->flags |= IFF_MASTER;
		dev->priv_flags |= IFF_BONDING;
		ret = notifier_to_errno(call_netdevice_notifiers(NETDEV_BONDING_FAILOVER,
								 dev));
		dev->priv_flags &= ~IFF_BONDING;
		dev->flags &= ~IFF_MASTER;
	}
	rtnl_unlock();
	return ret;
}

static void __exit failover_exit(void)
{
}

module_init(failover_init);
module_exit(failover_exit);

MODULE_DESCRIPTION("Simulates the failover of a bond, for tests");
MODULE_LICENSE("GPL");
