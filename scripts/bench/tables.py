#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Tables of the benchmark's results, for people and for programs, and checks of them:

    tables.py cells RAW SAMPLES COUNTERS results of guest.sh as a line per cell, and the rise of
                                        each counter in each cell, per operation
    tables.py messages RAW              messages of each operation over rdma2: DEPTH ROW BYTES,
                                        Calls, and bytes of a Call, of a Reply, of RDMA Reads
                                        and of Writes
    tables.py fold <PERF-SCRIPT         samples as stacks, a line each
    tables.py flame TITLE FOLDED        stacks as a flame graph
    tables.py layers CELLS CSV FOLDED... cost by layer; FOLDED is VARIANT-ROW-BYTES.folded
    tables.py median SAMPLES            the median of all measurements of a cell
    tables.py table CELLS               cost of an operation
    tables.py counts COUNTERS           counters per operation
    tables.py trips TRIPS               round trips
    tables.py one_trip TRIPS            whether short data takes one
    tables.py link RATES                rates on a link with delay and loss
    tables.py memory SAMPLES CSV KERNEL memory of one connection
    tables.py smoke CELLS               checks the plausibility of the costs
    tables.py intree COUNTERS SOME KERNEL
                                        checks in-tree's counters for known values
"""

import collections
import html
import os
import re
import statistics
import sys

TITLES = {'intree': 'in-tree', 'tuned': 'tuned', 'tcp': 'TCP', 'floor': 'floor',
          'base': 'base', 'rdma2': 'rdma2'}
# Layers and their colours in a flame graph
LAYERS = {'device': '#c8c8c8', 'transport': '#ff8c3c', 'RPC': '#8cc878', 'NFS': '#82b4e6',
          'system': '#f0dc8c'}


def fields(path):
    """Returns the lines of a CSV file without its header."""
    with open(path, encoding='utf-8') as file:
        return [line.rstrip('\n').split(',') for line in file][1:]


def thousands(n):
    return '-' if n is None else f'{n / 1000:.1f}' if -1e6 < n < 1e6 else f'{n / 1000:.0f}'


def size_of(row, size):
    """Formats a row's name and size as short as possible."""
    size = int(size)
    text = '' if not size else f'{size}' if size < 1024 else \
        f'{size / 1024:g}K' if size < 1048576 else f'{size / 1048576:g}M'
    return f'{row:<7} {text:>4}'


# Fields of an xprt line in /proc/self/mountstats, from the eleventh on
XPRT = ('read_chunk write_chunk reply_chunk request_bytes reply_bytes pullup fixup hardway '
        'failed_marshal bad_reply nomsg mrs_recycled mrs_orphaned mrs_allocated '
        'local_inv_needed empty_sendctx_q').split()


def counters_in(path, lines):
    """Yields the counters in a file. Counters of a mount are nfs_NAME (RPCs of that name),
    xprt_NAME of in-tree's transport, and bytes_NAME; others have the name of the module or the
    driver as a prefix."""
    folder, base = os.path.split(path)
    owner = 'rxe_' if 'hw_counters' in path else 'intree_' if 'svc_rdma' in path else ''
    here = False
    for words in filter(None, map(str.split, lines)):
        if base == 'mountstats':
            if words[0] == 'device':
                here = words[4] == '/mnt'
            elif here and words[:2] == ['xprt:', 'rdma']:
                yield from zip([f'xprt_{name}' for name in XPRT], words[12:])
            elif here and re.fullmatch('[A-Z_]+:', words[0]) and len(words) >= 9:
                yield from zip([f'nfs_{words[0][:-1]}', f'trans_{words[0][:-1]}',
                                f'timeouts_{words[0][:-1]}', 'bytes_sent', 'bytes_received'],
                               words[1:])
        elif owner:
            yield owner + base, words[0]
        elif base == 'counters' and len(words) == 2:
            yield f'{os.path.basename(folder)}_{words[0]}', words[1]


def measured(raw):
    """Yields the fields of each cell, and the rises of its counters by name."""
    cell, risen, sign, path, lines = {}, collections.Counter(), 0, '', []

    def take():
        for name, value in counters_in(path, lines):
            risen[name] += sign * float(value)
        lines.clear()

    with open(raw, encoding='utf-8') as file:
        for line in file:
            tag, *words = line.split() or ['']
            if tag not in ('@cell', '@before', '@after', '@result'):
                lines.append(line)
                continue
            take()
            if tag in ('@before', '@after'):
                sign, path = 1 if tag == '@after' else -1, words[0]
                continue
            path = ''
            if tag == '@cell':
                cell, risen = {}, collections.Counter()
            cell.update(word.split('=') for word in words)
            if tag == '@result':
                yield cell, {name: n for name, n in risen.items() if n}


def cells(raw, samples, counters):
    """Omits counters that did not rise. Fails if an operation was not sent to the server."""
    bad = False
    with open(samples, 'w', encoding='utf-8') as samples, \
            open(counters, 'w', encoding='utf-8') as counters:
        print('variant,nconnect,depth,row,size,pass,ops,instructions,ns,rpcs', file=samples)
        print('variant,nconnect,depth,row,size,pass,counter,per_op', file=counters)
        for cell, risen in measured(raw):
            key = ','.join(cell[word] for word in ('variant', 'nconnect', 'depth', 'row', 'size'))
            ops, ns, row = int(cell['ops']), int(cell['ns']), cell['row']
            for name, n in risen.items():
                print(f'{key},{cell["pass"]},{name},{n / ops:.4f}', file=counters)
            # The RPC that each operation of a row has to send. The client uses READ_PLUS
            # over TCP, but not over RDMA.
            wanted = {'OPEN': ('OPEN', 'OPEN_NOATTR'), 'CREATE': ('OPEN', 'OPEN_NOATTR'),
                      'READ': ('READ', 'READ_PLUS'), 'UNLINK': ('REMOVE',)}.get(row, (row,))
            n = sum(risen.get(f'nfs_{name}', 0) for name in wanted)
            if cell['variant'] != 'floor' and row != 'CONNECT' and n != ops:
                print(f'FAIL {key}: {ops} operations, {n:.0f} on the wire')
                bad = True
            # The clock leaps while all tasks wait for the host; the busy time does not.
            rpcs = sum(n for name, n in risen.items() if name.startswith('nfs_'))
            print(f'{key},{cell["pass"]},{ops},{min(ns, int(cell["busy"])) / ops:.1f},'
                  f'{ns / ops:.1f},{rpcs / ops:.2f}', file=samples)
    return bad


def messages(raw):
    found = {}
    for cell, risen in measured(raw):
        if (cell['variant'], cell['nconnect'], cell['pass']) == ('rdma2', '1', 'cost'):
            found[cell['depth'], cell['row'], cell['size']] = collections.Counter(
                {name: round(n / int(cell['ops']), 4) for name, n in risen.items()})
    for (depth, row, size), n in found.items():
        calls = int(n['xprtrdma2_calls'] + 0.5)
        read = n['svcrdma2_read_chunk_bytes']
        written = n['svcrdma2_write_chunk_bytes'] + n['svcrdma2_reply_chunk_bytes']
        sent = n['xprtrdma2_call_bytes'], n['xprtrdma2_reply_bytes']
        if calls and sum(sent) + read + written >= int(size):
            print(depth, row, size, calls, *(int(x / calls) for x in sent),
                  int(read + 0.5), int(written + 0.5))


def layer_of(name):
    if name.endswith(' [rdma_rxe]'):
        return 'device'
    module = re.search(r' \[(\w+)\]$', name)
    module = module[1] if module else ''
    if module in ('xprtrdma2', 'svcrdma2', 'rpcrdma2', 'rpcrdma'):
        return 'transport'
    if module in ('ib_core', 'rdma_cm'):
        return 'verbs'
    if module in ('sunrpc', 'auth_rpcgss'):
        return '' if name.startswith('xdr_') else 'RPC'
    if module in ('nfs', 'nfsv3', 'nfsv4', 'nfsd', 'nfs_acl', 'lockd'):
        return 'NFS'
    return ''


def layer_of_stack(frames):
    """Returns the layer of the innermost function that belongs to a layer.

    Functions of XDR and of the RDMA core count for the layer that called them; the RDMA core's
    worker, which polls Completion Queues, counts for the transport. Samples without any layer
    (system calls, scheduler, workqueues) belong to "system"."""
    found = [layer for layer in map(layer_of, reversed(frames)) if layer]
    return next((layer for layer in found if layer != 'verbs'),
                'transport' if found else 'system')


def stacks(path):
    """Yields the functions of each line, outermost first, and the number of samples."""
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        for line in file:
            stack, _, count = line.rstrip('\n').rpartition(' ')
            yield stack.split(';'), int(count)


def fold():
    """Samples are separated by empty lines. Functions of modules have the module's name as a
    suffix."""
    seen = collections.Counter()
    sys.stdin.reconfigure(errors='surrogateescape')
    sys.stdout.reconfigure(errors='surrogateescape')
    for sample in filter(None, re.split(r'\n{2,}', sys.stdin.read().strip('\n'))):
        comm, *lines = sample.split('\n')
        comm = comm.strip(' \t')
        # perf itself is not part of the measured load.
        if comm.startswith('perf'):
            continue
        # The names of workers have numbers.
        stack = [re.sub('[:/].*', '', comm)]
        for line in reversed(lines):
            words = line.split()
            # Suffixes of functions that the compiler has split
            name = re.sub(r'\.(isra|constprop|part|cold).*', '', words[1])
            if len(words) > 2 and re.fullmatch(r'\(\[.*\]\)', words[-1]) and \
                    'kernel' not in words[-1]:
                name += ' ' + words[-1][1:-1]
            stack.append(name)
        seen[';'.join(stack)] += 1
    for line in sorted(f'{stack} {count}' for stack, count in seen.items()):
        print(line)


def flame(title, folded):
    """Draws each function as wide as its samples, on top of its caller. The colours are layers:
    that of the function, or else of its caller."""
    width, height = 1400, 17
    total = collections.Counter()
    rects, path = [], []                # open functions: name, layer, first sample
    samples = deepest = 0

    def close_above(level):
        while len(path) > level:
            name, layer, start = path.pop()
            rects.append((len(path) + 1, start, samples, name, LAYERS[layer]))

    for frames, count in stacks(folded):
        same = len(os.path.commonprefix([frames, [name for name, _, _ in path]]))
        close_above(same)
        for name in frames[same:]:
            below = path[-1][1] if path else 'system'
            layer = layer_of(name)
            if layer == 'verbs':
                layer = 'device' if below == 'device' else 'transport'
            path.append((name, layer or below, samples))
        deepest = max(deepest, len(path))
        samples += count
        total[layer_of_stack(frames)] += count
    close_above(0)
    if not samples:
        return 1
    top = (deepest + 3) * height
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + 2 * height}" '
          'font-family="sans-serif" font-size="11">')
    print('<rect width="100%" height="100%" fill="white"/>')
    print(f'<text x="{width // 2}" y="{height}" text-anchor="middle" font-size="14">'
          f'{html.escape(title)}</text>')
    for level, start, end, name, colour in rects:
        wide = (end - start) * width / samples
        if wide < 0.4:
            continue
        x, y = start * width / samples, top - level * height
        text = name[:int(wide / 6.5)]
        print(f'<g><title>{html.escape(name)}: {end - start} samples, '
              f'{(end - start) * 100 / samples:.1f} %</title>'
              f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{height - 1}" '
              f'fill="{colour}" stroke="white" stroke-width="0.4"/>' +
              (f'<text x="{x + 2:.1f}" y="{y + height - 5}">{html.escape(text)}</text>'
               if len(text) > 2 else '') + '</g>')
    for i, (layer, colour) in enumerate(LAYERS.items()):
        x = 10 + i * 180
        print(f'<rect x="{x}" y="{top + height - 6}" width="12" height="12" fill="{colour}"/>'
              f'<text x="{x + 17}" y="{top + height + 4}">{layer}: '
              f'{total[layer] * 100 / samples:.1f} %</text>')
    print('</svg>')
    return 0


def layers(cells_csv, csv, *folded):
    """Divides the cost of an operation in proportion to the samples in each layer."""
    cost = {(c[0], c[3], c[4]): float(c[5]) for c in fields(cells_csv) if c[1:3] == ['1', '1']}
    samples = collections.Counter()
    rows = {}

    for path in folded:
        variant, *row = os.path.basename(path).removesuffix('.folded').split('-')
        rows[tuple(row)] = True
        for frames, count in stacks(path):
            samples[variant, *row, layer_of_stack(frames)] += count
    if not rows:
        return
    print('\nWhere they are; 1 connection, 1 in flight: thousands of instructions per operation\n')
    print(' ' * 21 + ''.join(f' {head:>9}' for head in [*LAYERS, '-floor', 'samples']))
    with open(csv, 'w', encoding='utf-8') as file:
        print('variant,row,size,layer,samples,instructions', file=file)
        for row in rows:
            for variant in 'intree', 'rdma2':
                key = variant, *row
                seen = sum(samples[*key, layer] for layer in LAYERS)
                if not seen or not cost.get(key):
                    continue
                line = f'{size_of(*row)} {TITLES[variant]:<8}'
                for layer in LAYERS:
                    n = samples[*key, layer]
                    line += f' {thousands(n * cost[key] / seen):>9}'
                    print(*key, layer, n, f'{n * cost[key] / seen:.1f}', sep=',', file=file)
                floor = cost.get(('floor', *row), 0)
                print(f'{line} {thousands(cost[key] - floor):>9} {seen:9}')
    print("""
A sample counts for the layer of its innermost function. device: soft-RoCE.
transport: xprtrdma2 and svcrdma2, or rpcrdma, and the RDMA core on their behalf.
RPC: sunrpc. NFS: client, server and the file system below it. system: code that
none of these called, such as system call, scheduler, workqueues.""")


def median(samples):
    """Prints the median of all measurements of a cell, and their spread."""
    values, rpcs = collections.defaultdict(list), {}
    for *key, kind, _, cost, _, n in fields(samples):
        if kind == 'cost':
            values[tuple(key)].append(float(cost))
            rpcs[tuple(key)] = n
    print('variant,nconnect,depth,row,size,instructions,samples,spread_percent,rpcs')
    for key, all_of_it in values.items():
        m = statistics.median(all_of_it)
        spread = (max(all_of_it) - min(all_of_it)) * 100 / m if m else 0
        print(*key, f'{m:.1f}', len(all_of_it), f'{spread:.2f}', rpcs[key], sep=',')


def table(path):
    """Prints a table for each number of connections and of operations in flight."""
    cost, rpcs, rows, tables = {}, {}, {}, {}
    for variant, connections, depth, row, size, instructions, _, _, n in fields(path):
        key = connections, depth, row, size
        cost[variant, key] = float(instructions)
        rpcs[variant, key] = f'{float(n):g}'
        rows[row, size] = tables[connections, depth] = True
    have = {variant for variant, _ in cost}
    variants = [v for v in ('intree', 'tuned', 'tcp', 'floor', 'base', 'rdma2') if v in have]
    others = [v for v in variants if v != 'rdma2']

    for connections, depth in tables:
        used, _, idle = connections.partition('+')
        print(f'\n{used} connection{"s" * (used != "1")}{f" beside {idle} idle ones" * bool(idle)}, '
              f'{depth} in flight: thousands of instructions per operation\n')
        heads = [TITLES[v] for v in variants] + ['/' + TITLES[v] for v in others] + \
            ['-floor'] * ('floor' in have)
        print(f'{"":12} {"RPCs":>5}' + ''.join(f' {head:>9}' for head in heads))
        for row in rows:
            key = connections, depth, *row
            if not any((v, key) in cost for v in have):
                continue
            rdma2 = cost.get(('rdma2', key))
            columns = [thousands(cost.get((v, key))) for v in variants]
            for variant in others:
                other = cost.get((variant, key))
                columns.append('-' if rdma2 is None or not other else f'{rdma2 / other:.3f}')
            if 'floor' in have:
                floor = cost.get(('floor', key))
                columns.append('-' if floor is None else thousands((rdma2 or 0) - floor))
            print(f'{size_of(*row)} {rpcs.get(("rdma2", key), ""):>5}' +
                  ''.join(f' {column:>9}' for column in columns))


def counts(counters):
    """Prints a line for each row and variant."""
    heads = {'send': 'Send', 'send_inv': '+Inv', 'rdma_read': 'Read', 'rdma_write': 'Write',
             'reg_mr': 'REG', 'local_inv': 'LINV', 'doorbells': 'bells',
             'recv_doorbells': 'Rbells', 'send_completions': 'Scqe',
             'recv_completions': 'Rcqe', 'cq_runs': 'polls', 'packets': 'packets'}
    n, rows = collections.defaultdict(float), {}
    for variant, _, _, row, size, kind, name, value in fields(counters):
        if kind != 'count':
            continue
        name = name.removeprefix('rpcrdma2_count_')
        n[row, size, variant, 'packets' if name == 'rxe_sent_pkts' else name] = float(value)
        rows.setdefault((row, size), set()).add(variant)
    if not rows:
        return
    print('\nPer operation, both ends together; 1 connection, 1 in flight\n')
    print(' ' * 21 + ''.join(f' {head:>7}' for head in heads.values()))
    for row, have in rows.items():
        for variant in 'intree', 'tuned', 'base', 'rdma2', 'floor':
            if variant in have:
                values = [n[*row, variant, name] for name in heads]
                print(f'{size_of(*row)} {TITLES[variant]:<8}' + ''.join(
                    f' {f"{x:.0f}" if x == int(x) else f"{x:.2f}":>7}' for x in values))
    print("""
Send, +Inv, Read, Write, REG, LINV: work requests: Send, Send With Invalidate,
RDMA Read, RDMA Write, REG_MR, LOCAL_INV. bells, Rbells: calls of ib_post_send(),
ib_post_recv(). Scqe, Rcqe: entries of Completion Queues. polls: times that a
worker runs for a Completion Queue. packets: as soft-RoCE counts them.""")


def trips(path):
    found = collections.defaultdict(dict)
    for variant, row, size, n in fields(path):
        found[row, size][variant] = n
    print('\nThe quickest operation in units of the round trip of 10 ms\n')
    variants = 'intree', 'tuned', 'tcp', 'rdma2'
    print(' ' * 12 + ''.join(f' {TITLES[variant]:>8}' for variant in variants))
    for row, n in found.items():
        print(size_of(*row) + ''.join(f' {n.get(variant, ""):>8}' for variant in variants))


def one_trip(path):
    """C-001, C-029: data that fits the server's Receives needs no RDMA Read, so a WRITE takes one
    round trip; in-tree's Receives are too small for it. A READ takes one with both."""
    found = {(variant, row, size): float(n) for variant, row, size, n in fields(path)}
    bad = False
    for variant, row, least in (('rdma2', 'WRITE', 1), ('rdma2', 'READ', 1),
                                ('intree', 'WRITE', 2), ('intree', 'READ', 1)):
        if not any(key[0] == variant for key in found):
            continue
        n = found.get((variant, row, '4096'), 0)
        good = least <= n < least + 0.4
        bad |= not good
        print(f'{"ok" if good else "FAIL"} C-001 C-029 {variant}: {row} of 4096 bytes takes {n} '
              f'round trips, at least {least} and less than {least + 0.4}')
    return bad


def link(path):
    found = collections.defaultdict(dict)
    variants = []
    for variant, *cell, rate in fields(path):
        found[tuple(cell)][variant] = float(rate)
        if variant not in variants:
            variants.append(variant)
    print('\nMiB a second of 1 MiB each, on a link with a round trip and a loss of packets\n')
    print('       trip    loss in flight' + ''.join(f' {TITLES[variant]:>8}' for variant in variants))
    for (row, trip, loss, depth), n in found.items():
        print(f'{row:5} {trip:>2} ms {loss:>6}% {depth:>9}' +
              ''.join(f' {n[variant]:8.1f}' if variant in n else ' ' * 9 for variant in variants))


def memory(path, csv, kernel):
    """The memory of a mount is derived from TCP: the difference between 16 connections on 16
    mounts and 16 connections on one. It is subtracted for each mount."""
    samples, notes = [], []
    tcp, mount = {}, collections.Counter()
    left = collections.Counter()        # maximum, by end and whether there were many
    with open(path, encoding='utf-8') as file:
        for line in map(str.rstrip, file):
            variant, *values = line.split(',')
            if line.startswith('#'):
                notes.append(line[2:])
            if variant not in TITLES:
                continue
            connections, mounts, end, *kib, rest = values
            connections, mounts, kib = int(connections), int(mounts), list(map(float, kib))
            samples.append((variant, connections, mounts, end, kib))
            key = end, connections >= 16
            left[key] = max(left[key], abs(float(rest)) / connections)
            if variant == 'tcp' and connections == 16:
                tcp[end, mounts] = kib[0]
    if not samples:
        return 1
    for end in 'client', 'server':
        if (end, 16) in tcp:
            mount[end] = (tcp[end, 16] - tcp.get((end, 1), 0)) / 15
    with open(csv, 'w', encoding='utf-8') as file:
        print('variant,connections,mounts,end,idle_kib,loaded_kib,after_kib', file=file)
        lines = []
        for variant, connections, mounts, end, kib in samples:
            each = [f'{(n - mounts * mount[end]) / connections:.0f}' for n in kib]
            print(variant, connections, mounts, end, *each, sep=',', file=file)
            lines.append('  ' + ''.join(f'{n:>8}' for n in each))
    print(f"\nKiB of the kernel's memory for one connection, two guests ({kernel})\n")
    print(f'{"":27}{"client":>18}{"server":>26}')
    print(f'{"":8} {"connections":>11} {"mounts":>6}' + f'  {"idle":>8}{"loaded":>8}{"after":>8}' * 2)
    # The client's sample precedes the server's.
    for i in range(0, len(samples) - 1, 2):
        variant, connections, mounts = samples[i][:3]
        print(f'{TITLES[variant]:<8} {connections:11} {mounts:6}' + lines[i] + lines[i + 1])
    print(f"""
The figures exclude the memory of a mount itself: {mount['client']:.0f} KiB of the client, \
{mount['server']:.0f} KiB of the
server. Memory that remained after the unmounts, per connection: at most
{left['client', False]:.0f} and {left['server', False]:.0f} KiB with one connection, \
{left['client', True]:.1f} and {left['server', True]:.1f} with more.""")
    if notes:
        print('', *notes, sep='\n')
    return 0


def smoke(path):
    """A case for each row: this transport has to be not more expensive than in-tree. The floor
    has to be cheaper than both; beside idle connections, where it is not measured, both cost as
    much as alone."""
    rows = collections.defaultdict(collections.Counter)
    for variant, connections, _, row, size, cost, *_ in fields(path):
        rows[connections, row, size][variant] = float(cost)
    bad = not rows
    for (connections, row, size), cost in rows.items():
        good = 0 < cost['rdma2'] < cost['intree'] * 1.05
        if '+' not in connections:
            good &= 0 < cost['floor'] < min(cost['rdma2'], cost['intree'])
        elif row != 'CONNECT':
            good &= all(cost[v] < rows['1', row, size][v] * 1.05 for v in ('rdma2', 'intree'))
        bad |= not good
        print(f'{"ok" if good else "FAIL"} {row},{size}, connections {connections}: floor '
              f'{int(cost["floor"])}, rdma2 {int(cost["rdma2"])}, in-tree {int(cost["intree"])}')
    return bad


# Known counts of in-tree's operations, from its source, at its defaults on soft-RoCE:
# counter, minimum and maximum by row. A wrong count shows that the harness is broken.
KNOWN = {
    'GETATTR,0': [('xprt_read_chunk', 0, 0), ('xprt_write_chunk', 0, 0),
                  ('xprt_reply_chunk', 0, 0), ('rpcrdma2_count_reg_mr', 0, 0),
                  ('rpcrdma2_count_doorbells', 2, 2)],
    'OPEN,0': [('xprt_reply_chunk', 1, 1), ('intree_rdma_stat_write', 1, 1)],
    'READDIR,0': [('xprt_reply_chunk', 2, 3), ('xprt_local_inv_needed', 2, 3)],
    'READ,4096': [('xprt_write_chunk', 1, 1), ('xprt_local_inv_needed', 0, 0),
                  ('intree_rdma_stat_write', 1, 1), ('rpcrdma2_count_reg_mr', 1, 1),
                  ('rpcrdma2_count_send_inv', 1, 1)],
    'READ,65536': [('rpcrdma2_count_rdma_write', 4, 4)],
    'WRITE,4096': [('rpcrdma2_count_rdma_read', 1, 1), ('rpcrdma2_count_doorbells', 3, 3)],
    'WRITE,65536': [('rpcrdma2_count_rdma_read', 4, 4)],
    'READ,1048576': [('xprt_write_chunk', 8, 8), ('xprt_local_inv_needed', 8, 8),
                     ('intree_rdma_stat_write', 8, 8), ('rpcrdma2_count_rdma_write', 56, 56),
                     ('rpcrdma2_count_reg_mr', 8, 8), ('rpcrdma2_count_local_inv', 8, 8)],
    'WRITE,1048576': [('xprt_read_chunk', 8, 8), ('intree_rdma_stat_read', 8, 8),
                      ('xprt_local_inv_needed', 8, 8), ('rpcrdma2_count_rdma_read', 56, 56)],
}
# The NFS client of Linux 7.3 expects longer Replies with attributes, beyond 4 KiB.
KNOWN_73 = KNOWN | {
    'GETATTR,0': [('xprt_read_chunk', 0, 0), ('xprt_write_chunk', 0, 0),
                  ('xprt_reply_chunk', 1, 1), ('rpcrdma2_count_reg_mr', 1, 1),
                  ('rpcrdma2_count_doorbells', 2, 2)],
    'OPEN,0': [('xprt_reply_chunk', 3, 3), ('intree_rdma_stat_write', 3, 3)],
    'READDIR,0': [('xprt_reply_chunk', 5, 6), ('xprt_local_inv_needed', 2, 3)],
}


def intree(counters, some, kernel):
    """One line per case; rows that were not run are omitted. With SOME=1 it is a failure if no
    row is left."""
    expected = KNOWN_73 if kernel == 'debian-7.3' else KNOWN
    n, ran = collections.Counter(), set()
    for variant, _, _, row, size, kind, name, value in fields(counters):
        if variant == 'intree' and kind == 'count':
            ran.add(f'{row},{size}')
            n[f'{row},{size}', name] = float(value)
    bad = False
    for row in [row for row in expected if row in ran]:
        for counter, least, most in expected[row]:
            got = n[row, counter]
            what = f'in-tree, {row}: {counter} is {got:g}'
            if least - 0.05 <= got <= most + 0.05:
                print('ok', what)
            else:
                print(f'FAIL {what}, not {least} to {most}')
                bad = True
    if some == '1' and not ran & expected.keys():
        print('FAIL in-tree: no row of it was checked')
        bad = True
    return bad


COMMANDS = [cells, messages, fold, flame, layers, median, table, counts, trips, one_trip, link, memory,
            smoke, intree]

if __name__ == '__main__':
    command = {c.__name__: c for c in COMMANDS}.get(sys.argv[1] if len(sys.argv) > 1 else '')
    if not command:
        sys.exit(__doc__)
    sys.exit(command(*sys.argv[2:]))
