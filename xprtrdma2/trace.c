// SPDX-License-Identifier: GPL-2.0
/*
 * Instantiates the trace events.
 */
#include "xprtrdma2.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
