/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CID cache: what the scheduler calls.
 *
 * But for cid_cache_allow() each hook stands at the top of one of the functions of
 * the kernel's own allocator and makes it return when the CID cache is in use.  A
 * static key decides, once at boot; with sched_cid_cache=off the kernel's allocator
 * runs as it is.
 */
#ifndef _KERNEL_SCHED_CID_CACHE_HOOKS_H
#define _KERNEL_SCHED_CID_CACHE_HOOKS_H

#ifdef CONFIG_SCHED_CID_CACHE

#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/percpu-defs.h>

#include "cid_cache.h"
#include "cid_cache_compat.h"

/*
 * How long a parked id stays its CPU's unless keep_ms says something else.  The
 * smallest value of those measured (0, 4, 20, 100, 1000, for ever) at which threads
 * that take turns find their CPU's id again, and hardly ever search; four times
 * less and a third of the turns sees another id, five times more and ids spread
 * where few threads run.  The table is in sched-cid-cache.rst.
 */
#define CID_KEEP_MS_DEFAULT	20

DECLARE_STATIC_KEY_TRUE(cid_cache_key);
DECLARE_PER_CPU_ALIGNED(struct cid_cache, cid_caches);
extern struct cid_env cid_cache_env;

/* Is the CID cache in use? */
static __always_inline bool cid_cache_enabled(void)
{
	return static_branch_likely(&cid_cache_key);
}

/*
 * O1, in context_switch() and so behind the full barrier of __schedule(), irqs
 * off.  Decides by what next says of itself and never by next->mm: kernel
 * threads may have borrowed one, and workers have one for good.
 */
static __always_inline bool cid_cache_switch(struct task_struct *next)
{
	struct cid_mm *mm = NULL;

	if (!cid_cache_enabled())
		return false;

	lockdep_assert_irqs_disabled();
	if (next->cid_cache.active == CID_ACTIVE)
		mm = &next->mm->cid_cache;
	if (cid_switch(&cid_cache_env, this_cpu_ptr(&cid_caches),
		       smp_processor_id(), mm, &next->cid_cache, (u32)jiffies))
		cid_tell_task(next);
	return true;
}

bool cid_cache_exit(struct task_struct *t);
bool cid_cache_exec_before(struct task_struct *t);
bool cid_cache_exec_after(struct task_struct *t);
void cid_cache_allow(struct task_struct *p);

#else

static __always_inline bool cid_cache_enabled(void) { return false; }
static __always_inline bool cid_cache_switch(struct task_struct *next) { return false; }
static inline bool cid_cache_exit(struct task_struct *t) { return false; }
static inline bool cid_cache_exec_before(struct task_struct *t) { return false; }
static inline bool cid_cache_exec_after(struct task_struct *t) { return false; }
static inline void cid_cache_allow(struct task_struct *p) { }

#endif

#endif /* _KERNEL_SCHED_CID_CACHE_HOOKS_H */
