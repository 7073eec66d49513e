// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates a bond that fails over to another link: on load the module changes the address of
 * an interface and sends the kernel's notifications. The interface need not be a bond.
 *
 * As in a bond, the RTNL is held from the change to the end: rdma_cm has queued the events of
 * all connections before soft-RoCE loses the GID. A connection under load ends without the GID,
 * and the next one already has the new address, so a later event would find none.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

static char *interface = "d0";
module_param(interface, charp, 0444);
MODULE_PARM_DESC(interface, "name of the interface (default d0)");

static unsigned char address[ETH_ALEN];
static unsigned int bytes;
module_param_array(address, byte, &bytes, 0444);
MODULE_PARM_DESC(address, "the interface's new Ethernet address, six bytes");

static int __init failover_init(void)
{
	struct net_device *dev;
	int ret = -ENODEV;

	if (bytes != ETH_ALEN || !is_valid_ether_addr(address))
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, interface);
	if (dev) {
		eth_hw_addr_set(dev, address);
		call_netdevice_notifiers(NETDEV_CHANGEADDR, dev);
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
