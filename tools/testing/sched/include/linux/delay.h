/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_DELAY_H
#define _LINUX_DELAY_H

#include <linux/jiffies.h>

void sim_sleep_ns(unsigned long long ns);

#define msleep(ms)		sim_sleep_ns((ms) * 1000000ull)
#define ssleep(s)		sim_sleep_ns((s) * 1000000000ull)
#define fsleep(us)		sim_sleep_ns((us) * 1000ull)
#define usleep_range(lo, hi)	sim_sleep_ns((lo) * 1000ull)
#define udelay(us)		sim_sleep_ns((us) * 1000ull)
#define ndelay(ns)		sim_sleep_ns(ns)
#define schedule_timeout_interruptible(j)	sim_sleep_ns((j) * 1000000ull)
#define schedule_timeout_uninterruptible(j)	sim_sleep_ns((j) * 1000000ull)

#endif
