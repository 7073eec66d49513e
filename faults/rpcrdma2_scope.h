/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that instrumented code calls, with the addresses of the function and its caller
 */
#ifndef _RPCRDMA2_SCOPE_H
#define _RPCRDMA2_SCOPE_H

void __cyg_profile_func_enter(void *fn, void *site);
void __cyg_profile_func_exit(void *fn, void *site);

#endif /* _RPCRDMA2_SCOPE_H */
