/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the files of the core and by no other module
 */
#ifndef _RPCRDMA2_CORE_H
#define _RPCRDMA2_CORE_H

struct workqueue_struct;

/* module.c */
extern struct workqueue_struct *rpcrdma2_wq;

/* rw.c */
int rpcrdma2_rw_start(void);
void rpcrdma2_rw_stop(void);

#endif /* _RPCRDMA2_CORE_H */
