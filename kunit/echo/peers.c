// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that take Calls of the service. As in nfsd, each connection on which BIND has
 * arrived has an RPC client on its backchannel until the connection is closed.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "echo.h"

/* Seconds after which a Call of the service fails */
unsigned int echo_backward_timeout = 20;

static atomic_t peers_alive;
static LIST_HEAD(peers);
static DEFINE_MUTEX(peers_lock);

static void peer_free(struct kref *ref)
{
	struct echo_peer *peer = container_of(ref, struct echo_peer, ep_ref);

	rpc_shutdown_client(peer->ep_clnt);
	svc_xprt_put(peer->ep_svc);
	kfree(peer);
	if (atomic_dec_and_test(&peers_alive))
		wake_up_var(&peers_alive);
}

/**
 * echo_peer_put - drop the reference to a peer
 * @peer: from echo_peer_get()
 */
void echo_peer_put(struct echo_peer *peer)
{
	kref_put(&peer->ep_ref, peer_free);
}

/**
 * echo_peer_get - get a reference to a peer
 * @index: of the peer, modulo the number of peers
 *
 * Return: the peer, or NULL if there is none.
 */
struct echo_peer *echo_peer_get(unsigned int index)
{
	struct echo_peer *peer;
	size_t count;

	guard(mutex)(&peers_lock);
	count = list_count_nodes(&peers);
	if (count)
		index %= count;
	list_for_each_entry(peer, &peers, ep_list) {
		if (index--)
			continue;
		kref_get(&peer->ep_ref);
		return peer;
	}
	return NULL;
}

/**
 * echo_peers_kill - kill the outstanding Calls of the service
 */
void echo_peers_kill(void)
{
	struct echo_peer *peer;

	guard(mutex)(&peers_lock);
	list_for_each_entry(peer, &peers, ep_list)
		rpc_killall_tasks(peer->ep_clnt);
}

static void peer_gone(struct work_struct *work)
{
	struct echo_peer *peer = container_of(work, struct echo_peer, ep_gone);

	scoped_guard(mutex, &peers_lock)
		list_del(&peer->ep_list);
	echo_peer_put(peer);
}

/* Called under a spinlock. The reference to the connection also pins the device. */
static void peer_closed(struct svc_xpt_user *user)
{
	struct echo_peer *peer = container_of(user, struct echo_peer, ep_user);

	queue_work(echo_wq, &peer->ep_gone);
}

static int peer_open(struct echo_peer *peer, struct svc_xprt *sx)
{
	struct rpc_clnt *clnt;
	int ret;

	clnt = echo_clnt(sx->xpt_net, (struct sockaddr *)&sx->xpt_remote,
			 sx->xpt_remotelen, sx, 1, READ_ONCE(echo_backward_timeout));
	if (IS_ERR(clnt))
		return PTR_ERR(clnt);
	peer->ep_clnt = clnt;
	peer->ep_svc = sx;
	ret = register_xpt_user(sx, &peer->ep_user);
	if (ret) {
		rpc_shutdown_client(clnt);
		return ret;
	}
	svc_xprt_get(sx);
	atomic_inc(&peers_alive);
	list_add_tail(&peer->ep_list, &peers);
	return 0;
}

/**
 * echo_peer_add - add a connection on which the client takes Calls
 * @sx: the connection; ignored if it is already a peer
 *
 * Context: svc thread.
 * Return: 0 or a negative error.
 */
int echo_peer_add(struct svc_xprt *sx)
{
	struct echo_peer *peer;
	int ret;

	guard(mutex)(&peers_lock);
	list_for_each_entry(peer, &peers, ep_list)
		if (peer->ep_svc == sx)
			return 0;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return -ENOMEM;
	kref_init(&peer->ep_ref);
	INIT_WORK(&peer->ep_gone, peer_gone);
	INIT_LIST_HEAD(&peer->ep_user.list);
	peer->ep_user.callback = peer_closed;
	ret = peer_open(peer, sx);
	if (ret)
		kfree(peer);
	return ret;
}

/**
 * echo_peers_wait - wait until there are no peers
 *
 * Context: after all connections are closed and all threads have ended.
 */
void echo_peers_wait(void)
{
	wait_var_event(&peers_alive, !atomic_read(&peers_alive));
}
