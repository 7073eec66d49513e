/* SPDX-License-Identifier: GPL-2.0 */
/* The version of all modules. Makefile and packages read it here. */
#ifndef _RPCRDMA2_RELEASE_H
#define _RPCRDMA2_RELEASE_H

#define RPCRDMA2_RELEASE "0.10.0"

#endif /* _RPCRDMA2_RELEASE_H */
