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

#define MESSAGE_MAX	4096	/* what either side may send, unless it is said */
#define DRAFT_MAX	8192	/* what a peer can say, whatever that is */
#define SEGMENTS_MAX	16	/* of a chunk that are of interest */

enum { MSG = 0, NOMSG = 1, ERROR = 4, OPTIONAL = 5, CONNPROP = 6, REQPROP = 7,
	RESPROP = 8, UPDPROP = 9 };
enum { RBSIZ = 1, BRS = 2, X_MARK = 0xffffff00, X_LIMITS, X_SBSIZ };
enum { CALL = 0, REPLY = 1 };
enum { NFS_PROGRAM = 100003, NFS3_LOOKUP = 3, NFS3_READ = 6, NFS3_MKDIR = 9,
	NFS3_SYMLINK = 10, NFS3_READDIR = 16, NFS3_READDIRPLUS = 17 };
enum { ERR_VERS = 1, ERR_BAD = 2, ERR_PROC = 3, ERR_READS = 4, ERR_WRITES = 5,
	ERR_SEGMENTS = 6, ERR_REPLY = 8, ERR_OPTION = 9 };

/* Credits, in every message */
extern uint32_t grant;

/* What the peer has said that it receives, and sends as much; MESSAGE_MAX at least */
extern uint32_t said_rbsiz;

struct segment {
	uint32_t handle, length;
	uint64_t offset;
};

/* The segments of a Write or Reply chunk; none when there is no such chunk */
struct chunk {
	unsigned int count;
	struct segment at[SEGMENTS_MAX];
};

/* A message received: its words, and what was made of them */
struct message {
	const uint8_t *data;
	size_t len;
	uint32_t xid, vers, credit, proc;
	uint32_t handle;		/* that the answer may invalidate */
	int reads, writes, replies;	/* read segments, chunks */
	struct read_segment {
		uint32_t position;
		struct segment at;
	} read[SEGMENTS_MAX];		/* the first read segments */
	struct chunk write, reply;	/* the first Write chunk, the Reply chunk */
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
void put_octets(struct draft *d, const uint8_t *data, size_t len);
void put_chunk(struct draft *d, const struct chunk *ck);

/* 0, or -1 when it is too short or makes no sense */
int parse(struct message *m, const uint8_t *data, size_t len);
/* Procedure of an inline Call to an NFS server, else -1 */
int nfs_proc(const struct message *m);
/* Name that an NFSv3 LOOKUP asks for: its length, 0 for any other Call */
size_t lookup_name(const struct message *m, char *name, size_t max);
/* Octets in all segments */
uint32_t chunk_length(const struct chunk *ck);
/* One line of text, in a static buffer */
const char *describe(const uint8_t *data, size_t len);

void begin(struct draft *d, uint32_t xid, uint32_t vers, uint32_t proc);
void begin_rpc(struct draft *d, uint32_t xid, uint32_t vers, uint32_t direction);
void make_connprop(struct draft *d, uint32_t xid, uint32_t rbsiz);
void make_changing(struct draft *d, uint32_t xid, uint32_t rbsiz);
void make_marked(struct draft *d, uint32_t xid, uint32_t rbsiz, uint32_t sbsiz,
		 uint32_t mark);
void make_resprop(struct draft *d, uint32_t xid, uint32_t done,
		  uint32_t rejected, uint32_t other);
void make_updprop(struct draft *d, uint32_t xid, uint32_t rbsiz);
void make_reqprop(struct draft *d, uint32_t xid);
void make_error(struct draft *d, uint32_t xid, uint32_t vers, uint32_t code);
void make_err_vers(struct draft *d, uint32_t xid, uint32_t vers, uint32_t low,
		   uint32_t high);

#endif
