/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where kernel versions differ, for the glue of the shared wake queue.  The
 * structure needs nothing of this.
 */
#ifndef _KERNEL_SCHED_SWQUEUE_COMPAT_H
#define _KERNEL_SCHED_SWQUEUE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#error "the shared wake queue needs Linux 6.12 or later"
#endif

/*
 * Proxy execution (6.17) tells the task that is executed from the one on whose
 * behalf; what waits is decided by the latter's class.  Under @rq's lock.
 */
static inline struct task_struct *swqueue_curr(struct rq *rq)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	return rcu_dereference_protected(rq->donor, lockdep_is_held(__rq_lockp(rq)));
#else
	return rcu_dereference_protected(rq->curr, lockdep_is_held(__rq_lockp(rq)));
#endif
}

#endif /* _KERNEL_SCHED_SWQUEUE_COMPAT_H */
