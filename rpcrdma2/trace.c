// SPDX-License-Identifier: GPL-2.0
/*
 * The core's trace events
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
