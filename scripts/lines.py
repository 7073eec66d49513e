#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Cache lines that an RPC writes to and several processors use.

    lines.py FOLDER

FOLDER has the modules with debug information, built for a kernel with several processors: the
folder src in the one that "make modules KERNEL=debian" prints. pahole reads the layout of the
structures from them. ACCESSES is written from reading the code: who writes and reads a field
for each RPC. Documentation/performance.rst, "Cache lines", has the meaning of the result.
"""
import os
import re
import subprocess
import sys

LINE = 64

# A row is: writers, readers, fields. T: tasks of RPCs at the client and threads at the server,
# on many processors; R: receive CQ; S: send CQ, as if on a third processor. In lower case:
# only for an RPC with chunks; in brackets: for about one RPC in 16. A field that is written
# only when its value changes counts as read.
CONN = '''
- R,S co_ops
- R,T co_lost
- T,R co_id
- T co_pd co_sq.sq_batch co_sq.sq_send_max
T,S - co_sq.sq_units
- T,S co_sq.sq_timeout co_sq.sq_all_timed
T,(S) - co_sq.sq_lock co_sq.sq_posted
T - co_sq.sq_unsignaled co_sq.sq_last_id
'''
ACCESSES = {
    'xprtrdma2': {
        'rpcrdma2_conn': CONN.replace('T,S -', 'T,S,r -') + '''
- t co_regions.rg_depth
t,r - co_regions.rg_lock co_regions.rg_free co_regions.rg_num_free
- t,r co_regions.rg_needed
''',
        'xprt2_ep': '''
- T,R,S ep_xp
- T ep_state ep_max_sge ep_call_threshold ep_reply_threshold ep_serial ep_limits
- T,R ep_vers ep_nego ep_max_reqs ep_grant
- R ep_ex ep_props_busy ep_calls
R - ep_recvs_posted ep_msg
''',
        'xprt2_xprt': '''
- T xp_ep xp_reply_waits
R - xp_refused xp_stats.st_reply_bytes
T - xp_hdr
- R xp_backward_credits
T,(S) - xp_req_lock xp_forward
- T,R xp_rpool.rp_size
(R) - xp_rpool.rp_lock xp_rpool.rp_free xp_rpool.rp_nfree
- (R) xp_rpool.rp_count
T,(R) - xp_rpool.rp_returned
t - xp_stats.st_read_chunks xp_stats.st_write_chunks xp_stats.st_request_bytes
t - xp_stats.st_nomsg_calls
''',
        'xprt2_req': '''
T,(S) - rq2_kref rq2_pool rq2_sends
T,R - rq2_holds rq2_reply
T R rq2_ep rq2_write_max rq2_reply_max
- T,R rq2_status
t,r T,R rq2_exposed.ex_regions
T - rq2_wr rq2_sge
T (S) rq2_num_mapped
''',
    },
    'svcrdma2': {
        'rpcrdma2_conn': CONN,
        'svc2_xprt': '''
- T,S sp_flags
- T sp_peer sp_props_busy sp_credits sp_grant sp_send_max sp_can_invalidate sp_last_vers
- T sp_sq_longest sp_sq_spare sp_tx_sges sp_rpool.rp_size sp_rpool.rp_batch
- T,R sp_sq_sem sp_mr_sem
T,S R sp_tx_sem
T,S - sp_txs
T - sp_tx_lock sp_recv_q sp_rpool.rp_lock sp_rpool.rp_free sp_rpool.rp_nfree
(T) T sp_spares
t,s R sp_quota
R,T - sp_event
T - sp_arrived
T - sp_received
t,s - sp_recv_lock
- R,T sp_start_q
t,s R,T sp_ready_q
- (T) sp_rpool.rp_count
(T) - sp_rpool.rp_posts
t - sp_read_chunks sp_write_chunks
''',
    },
}
MEMBER = re.compile(r'^\t(?:struct |union |enum )?([\w ]+?)[ *]*\(?\*?(\w+)(?:\[\d*\])*\)?'
                    r'(?:\(.*\))?(?: __attribute__\(.*\))?;\s*/\*\s+(\d+)\s+(\d+) \*/')


def layouts(module, names):
    """Returns {struct: {member: (type, offset, size)}}, with the structs that they contain."""
    found, wanted = {}, set(names)
    while wanted:
        text = subprocess.run(['pahole', '-C', ','.join(wanted), module], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        more = set()
        for name, body in re.findall(r'^struct (\w+) {\n(.*?)^}', text, re.M | re.S):
            rows = [MEMBER.match(line) for line in body.split('\n')]
            found[name] = {row[2]: (row[1], int(row[3]), int(row[4])) for row in rows if row}
            more |= {row[1] for row in rows
                     if row and row[1].startswith(('rpcrdma2_', 'xprt2_stats'))}
        wanted = more - found.keys() - wanted
    return found


def place(structs, name, path):
    """Returns offset and size of a field, as in "co_sq.sq_lock"."""
    offset = size = 0
    for member in path.split('.'):
        if member not in structs[name]:
            sys.exit(f'{name} has no {member}: correct ACCESSES')
        name, at, size = structs[name][member]
        offset += at
    return offset, size


def fields_of(table):
    """Yields writers, readers and name of each field."""
    for row in table.split('\n'):
        for field in row.split()[2:]:
            yield *row.split()[:2], field


def contexts(word):
    """Returns the letters of the contexts in a column."""
    return set(re.sub('[^TRS]', '', word.upper()))


def main(folder):
    for module, tables in ACCESSES.items():
        structs = layouts(os.path.join(folder, module, module + '.ko'), tables)
        for name, table in tables.items():
            lines = {}
            for writers, readers, path in fields_of(table):
                offset, size = place(structs, name, path)
                # what is larger than a line has its own lines
                for line in {offset // LINE, (offset + min(size, LINE) - 1) // LINE}:
                    lines.setdefault(line, []).append((path, writers, readers))
            for line, fields in sorted(lines.items()):
                written = set().union(*(contexts(field[1]) for field in fields))
                used = written.union(*(contexts(field[2]) for field in fields))
                if written and (len(used) > 1 or 'T' in written):
                    print(f'{module} {name} line {line}, of ' + ''.join(sorted(written)) +
                          ', used by ' + ''.join(sorted(used)))
                    for path, writers, readers in fields:
                        print(f'\t{path:32} written {writers:10} read {readers}')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
