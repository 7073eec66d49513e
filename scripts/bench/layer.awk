# SPDX-License-Identifier: GPL-2.0
#
# Which layer a stack belongs to: that of the innermost function of a layer's
# modules. Functions of XDR and of the RDMA core work for the layer that called them;
# the RDMA core's own worker, which polls Completion Queues, works for the transport. What
# no layer called, is the system: system call, scheduler, workqueues.

function layer_of(name)
{
	if (name ~ / \[rdma_rxe\]$/)
		return "device"
	if (name ~ / \[(xprtrdma2|svcrdma2|rpcrdma2|rpcrdma)\]$/)
		return "transport"
	if (name ~ / \[(ib_core|rdma_cm)\]$/)
		return "verbs"
	if (name ~ / \[(sunrpc|auth_rpcgss)\]$/)
		return name ~ /^xdr_/ ? "" : "RPC"
	if (name ~ / \[(nfs|nfsv3|nfsv4|nfsd|nfs_acl|lockd)\]$/)
		return "NFS"
	return ""
}

# frames[1..n], outermost first
function layer_of_stack(frames, n,    i, layer, verbs)
{
	for (i = n; i >= 1; i--) {
		layer = layer_of(frames[i])
		if (layer == "verbs")
			verbs = 1
		else if (layer != "")
			return layer
	}
	return verbs ? "transport" : "system"
}
