// SPDX-License-Identifier: GPL-2.0
#include "xprtrdma2.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
