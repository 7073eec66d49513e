// SPDX-License-Identifier: GPL-2.0
/* __assign_str() takes the source string from the event's __string(). */
#include <linux/string.h>
#include <linux/types.h>

#define EVENT_NULL_STR "(null)"
#ifdef RPCRDMA2_PROBE_WITHOUT
#include <trace/stages/stage3_trace_output.h>	/* __get_str() */
#endif
#include <trace/stages/stage6_event_callback.h>

struct probe_entry {
	u32 __data_loc_name;
};

struct probe_offsets {
	u32 name;
	const char *name_ptr_;
};

static inline void probe(struct probe_entry *__entry, struct probe_offsets __data_offsets)
{
#ifndef RPCRDMA2_PROBE_WITHOUT
	__assign_str(name);
#else
	__assign_str(name, "probe");
#endif
}
