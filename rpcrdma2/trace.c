// SPDX-License-Identifier: GPL-2.0
/*
 * Trace events of the core
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
