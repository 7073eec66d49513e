// SPDX-License-Identifier: GPL-2.0
/* The server's trace events */
#include "svcrdma2.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
