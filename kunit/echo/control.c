// SPDX-License-Identifier: GPL-2.0
/*
 * An RPC program that tests the transports with RPCs that no upper layer sends, for
 * example large backward Calls. Both ends are in one kernel. Control is by debugfs:
 *
 *	echo serve 20070 >rpcrdma2_echo/control
 *	echo connect 10.0.0.1 20070 1 >rpcrdma2_echo/control
 *	echo run direction=both count=1000 window=16 call=1/4096 reply=0 \
 *		>rpcrdma2_echo/control
 *	cat rpcrdma2_echo/result
 *	echo disconnect >rpcrdma2_echo/control; echo close >rpcrdma2_echo/control
 *
 * The client has connections like those of an NFSv4.1 mount: a service on them takes
 * the server's Calls. During a run,
 *
 *	halt	ends the run after the RPCs that are outstanding
 *	abort	ends the run, and kills the client's RPCs
 *	kill	kills the outstanding Calls of the service
 *	release	lets the services reply at once to the Calls that they hold,
 *
 * and either end may disconnect and reconnect. "holding" in the result is the number
 * of Calls that the services of both ends hold now. "client 1" selects a second client
 * for the commands that follow. The service sends its Calls to all clients in turn, and
 * to any other peer that has sent BIND.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "echo.h"

enum {
	BACKWARD_REQS		= 16,
	FORWARD_TIMEOUT		= 60,
	MAX_CLIENTS		= 2,
};

/**
 * struct end - a client
 * @clnt: sends Calls to the service
 * @callback: takes Calls of the service
 */
struct end {
	struct rpc_clnt	*clnt;
	struct svc_serv	*callback;
};

/* Protects all of the following variables */
static DEFINE_MUTEX(control_lock);
static struct svc_serv *server;
static struct net *server_net;
static struct end clients[MAX_CLIENTS];
static struct end *end = clients;
static struct rpc_clnt *running;	/* client of the current run */

static DEFINE_MUTEX(run_lock);
static struct dentry *folder;

struct workqueue_struct *echo_wq;

module_param_named(backward_timeout, echo_backward_timeout, uint, 0644);
MODULE_PARM_DESC(backward_timeout, "Time limit of a Call of the service in seconds, for new connections");

static void end_server(void)
{
	if (!server)
		return;
	echo_service_end(server, server_net);
	put_net(server_net);
	server = NULL;
}

static int serve(char *words)
{
	u16 port;
	int ret;

	if (server)
		return -EBUSY;
	if (kstrtou16(words, 0, &port))
		return -EINVAL;
	server = echo_service(false);
	if (IS_ERR(server)) {
		ret = PTR_ERR(server);
		server = NULL;
		return ret;
	}
	server_net = get_net(current->nsproxy->net_ns);
	ret = svc_xprt_create(server, "rdma2", server_net, PF_INET, port,
			      SVC_SOCK_ANONYMOUS, current_cred());
	if (ret < 0)
		end_server();
	return min(ret, 0);
}

static int open_backward(struct rpc_clnt *clnt, struct rpc_xprt *xprt, void *data)
{
	int ret;

	xprt->bc_serv = data;
	ret = xprt_setup_backchannel(xprt, BACKWARD_REQS);
	if (!ret)
		xprt->ops->bc_num_slots(xprt);	/* as NFS does after the setup */
	return ret;
}

static int close_backward(struct rpc_clnt *clnt, struct rpc_xprt *xprt, void *data)
{
	xprt_destroy_backchannel(xprt, BACKWARD_REQS);
	return 0;
}

static void end_client(void)
{
	if (end->clnt) {
		rpc_clnt_iterate_for_each_xprt(end->clnt, close_backward, NULL);
		rpc_shutdown_client(end->clnt);
		end->clnt = NULL;
	}
	if (end->callback) {
		echo_service_end(end->callback, NULL);
		end->callback = NULL;
	}
}

static int make_client(struct sockaddr *sap, size_t salen, unsigned int nconnect)
{
	end->clnt = echo_clnt(current->nsproxy->net_ns, sap, salen, NULL,
			      nconnect, FORWARD_TIMEOUT);
	if (!IS_ERR(end->clnt))
		return 0;
	end->clnt = NULL;
	return -EIO;
}

/* "ADDRESS PORT CONNECTIONS" */
static int connect(char *words)
{
	char *address = strsep(&words, " "), *port = strsep(&words, " ");
	struct sockaddr_storage addr;
	unsigned int nconnect;
	size_t salen;
	u16 number;
	int ret;

	if (end->clnt)
		return -EBUSY;
	if (!words || kstrtou16(port, 0, &number) ||
	    kstrtouint(words, 0, &nconnect))
		return -EINVAL;
	salen = rpc_pton(current->nsproxy->net_ns, address, strlen(address),
			 (struct sockaddr *)&addr, sizeof(addr));
	if (!salen)
		return -EINVAL;
	rpc_set_port((struct sockaddr *)&addr, number);

	end->callback = echo_service(true);
	if (IS_ERR(end->callback)) {
		end->callback = NULL;
		return -ENOMEM;
	}
	ret = make_client((struct sockaddr *)&addr, salen, nconnect);
	if (!ret)
		ret = rpc_clnt_iterate_for_each_xprt(end->clnt, open_backward,
						     end->callback);
	if (!ret)
		ret = echo_bind(end->clnt);
	if (ret)
		end_client();
	return ret;
}

/* From here on "halt" and "abort" end this run. */
static void set_running(struct rpc_clnt *clnt)
{
	guard(mutex)(&control_lock);
	echo_run_unhalt();
	running = clnt;
}

/* Under the lock: a run that starts meanwhile is aborted, or not affected at all. */
static void abort_run(void)
{
	guard(mutex)(&control_lock);
	echo_run_halt();
	if (running)
		rpc_killall_tasks(running);
}

/*
 * A run has a clone of the client, so that the client, its connections and the
 * service may go away during the run.
 */
static int run(char *words)
{
	struct rpc_clnt *clnt = NULL;
	int ret;

	scoped_guard(mutex, &control_lock)
		if (end->clnt)
			clnt = rpc_clone_client(end->clnt);
	if (IS_ERR(clnt))
		return PTR_ERR(clnt);
	scoped_guard(mutex, &run_lock) {
		set_running(clnt);
		ret = echo_run(clnt, words);
		set_running(NULL);
	}
	if (clnt)
		rpc_shutdown_client(clnt);
	return ret;
}

/* Select the client that the following commands apply to. */
static int choose(const char *words)
{
	unsigned int number;

	if (kstrtouint(words, 0, &number) || number >= MAX_CLIENTS)
		return -EINVAL;
	end = &clients[number];
	return 0;
}

static int control(char *word, char *words)
{
	guard(mutex)(&control_lock);
	if (!strcmp(word, "disconnect")) {
		end_client();
		return 0;
	}
	if (!strcmp(word, "close")) {
		end_server();
		return 0;
	}
	if (!words)
		return -EINVAL;
	if (!strcmp(word, "serve"))
		return serve(words);
	if (!strcmp(word, "client"))
		return choose(words);
	if (!strcmp(word, "connect"))
		return connect(words);
	return -EINVAL;
}

static int obey(char *words)
{
	char *word = strsep(&words, " ");

	if (!strcmp(word, "halt")) {
		echo_run_halt();
		return 0;
	}
	if (!strcmp(word, "abort")) {
		abort_run();
		return 0;
	}
	if (!strcmp(word, "kill")) {
		echo_peers_kill();
		return 0;
	}
	if (!strcmp(word, "release")) {
		echo_release();
		return 0;
	}
	return !strcmp(word, "run") && words ? run(words) : control(word, words);
}

static ssize_t control_write(struct file *file, const char __user *from,
			     size_t count, loff_t *pos)
{
	char *words;
	int ret;

	if (count > PAGE_SIZE)
		return -EINVAL;
	words = memdup_user_nul(from, count);
	if (IS_ERR(words))
		return PTR_ERR(words);
	ret = obey(strim(words));
	kfree(words);
	return ret ?: count;
}

static const struct file_operations control_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= control_write,
};

static ssize_t result_read(struct file *file, char __user *to, size_t count,
			   loff_t *pos)
{
	char line[256];

	return simple_read_from_buffer(to, count, pos, line,
				       echo_run_print(line, sizeof(line)));
}

static const struct file_operations result_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= result_read,
};

static int __init echo_init(void)
{
	echo_wq = alloc_workqueue("rpcrdma2_echo", WQ_UNBOUND,
				  min_t(int, 4 * ECHO_WINDOW, WQ_MAX_ACTIVE));
	if (!echo_wq)
		return -ENOMEM;
	folder = debugfs_create_dir("rpcrdma2_echo", NULL);
	debugfs_create_file("control", 0200, folder, NULL, &control_fops);
	debugfs_create_file("result", 0400, folder, NULL, &result_fops);
	return 0;
}

static void __exit echo_exit(void)
{
	debugfs_remove(folder);
	for (end = clients; end < clients + MAX_CLIENTS; end++)
		end_client();
	end_server();
	destroy_workqueue(echo_wq);
}

module_init(echo_init);
module_exit(echo_exit);

MODULE_DESCRIPTION("RPC program that tests RPC-over-RDMA in both directions");
MODULE_LICENSE("GPL");
