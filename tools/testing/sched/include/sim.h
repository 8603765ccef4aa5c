/* SPDX-License-Identifier: GPL-2.0-only */
/* What the harness offers beyond the kernel's interface; not for kunit/ suites. */
#ifndef _SIM_H
#define _SIM_H

#include <linux/types.h>

/* The running test will raise n warnings more; any other number fails it. */
void sim_expect_warnings(unsigned int n);
unsigned int sim_warnings(void);

/* Run fn(arg) in a thread of its own; true if it ended in a BUG. */
bool sim_expect_bug(void (*fn)(void *arg), void *arg);

/* The n-th allocation from now on fails (1 = next), then all succeed again. */
void sim_fail_alloc(int n);
long sim_live_allocs(void);

/* For the runner. */
void sim_start(unsigned int cpus, u64 seed);
void sim_new_test(u64 seed);
unsigned int sim_unexpected_warnings(void);
int sim_leftovers(char *buf, size_t n);
void sim_thread_reset(void);
void sim_fail_hook(void (*fn)(const char *msg));
const char *sim_set_param(const char *assign);
unsigned int sim_online(void);

#endif
