/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire of RPC-over-RDMA as the drafts have it, written down a second time
 * and independently of include/rpcrdma2/: the judge of a client must not share
 * its mistakes.
 */
#ifndef PEER_WIRE_H
#define PEER_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGE_MAX	4096	/* what either side may send */
#define DRAFT_MAX	8192	/* what a peer can say, whatever that is */

enum { MSG = 0, NOMSG = 1, ERROR = 4, OPTIONAL = 5, CONNPROP = 6, REQPROP = 7,
	RESPROP = 8, UPDPROP = 9 };
enum { RBSIZ = 1 };
enum { CALL = 0, REPLY = 1 };
enum { NFS_PROGRAM = 100003, NFS3_LOOKUP = 3, NFS3_READ = 6, NFS3_MKDIR = 9,
	NFS3_READDIR = 16, NFS3_READDIRPLUS = 17 };
enum { ERR_VERS = 1, ERR_BAD = 2, ERR_READS = 4, ERR_REPLY = 8 };

/* Credits, in every message */
extern uint32_t grant;

/* A message received: its words, and what was made of them */
struct message {
	const uint8_t *data;
	size_t len;
	uint32_t xid, vers, credit, proc;
	uint32_t handle;		/* that the answer may invalidate */
	int reads, writes, replies;	/* read segments, chunks */
	const uint8_t *rpc;		/* the RPC message of a MSG, or NULL */
	size_t rpc_len;
};

/* A message to be sent */
struct draft {
	uint8_t data[DRAFT_MAX];
	size_t len;
};

uint32_t get32(const uint8_t *p);
void put32(struct draft *d, uint32_t word);

/* 0, or -1 when it is too short or makes no sense */
int parse(struct message *m, const uint8_t *data, size_t len);
/* Procedure of an inline Call to an NFS server, else -1 */
int nfs_proc(const struct message *m);
/* One line of text, in a static buffer */
const char *describe(const uint8_t *data, size_t len);

void begin(struct draft *d, uint32_t xid, uint32_t vers, uint32_t proc);
void begin_rpc(struct draft *d, uint32_t xid, uint32_t vers, uint32_t direction);
void make_connprop(struct draft *d, uint32_t xid);
void make_error(struct draft *d, uint32_t xid, uint32_t vers, uint32_t code);
void make_err_vers(struct draft *d, uint32_t xid, uint32_t vers, uint32_t low,
		   uint32_t high);

#endif
