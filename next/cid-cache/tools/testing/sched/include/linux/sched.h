/* SPDX-License-Identifier: GPL-2.0-only */
/* Change to the stub of the same name: no warning when the value is not used. */
#ifndef _LINUX_SCHED_CID_H
#define _LINUX_SCHED_CID_H
#include_next <linux/sched.h>

#undef cond_resched
#define cond_resched()	({ sim_yield(); 0; })

#endif
