/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small RCU: each thread publishes the period in which its outermost read
 * side began; a grace period waits for all that began before it. Lock holders
 * and sections with preemption or interrupts off count as readers.
 */
#ifndef _LINUX_RCUPDATE_H
#define _LINUX_RCUPDATE_H

#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

void sim_rcu_read_lock(void);
void sim_rcu_read_unlock(void);
bool rcu_read_lock_held(void);
void synchronize_rcu(void);
void rcu_barrier(void);
void call_rcu(struct callback_head *head, void (*func)(struct callback_head *head));
void sim_kfree_rcu(const void *p);

#define rcu_read_lock()			sim_rcu_read_lock()
#define rcu_read_unlock()		sim_rcu_read_unlock()
#define rcu_read_lock_sched()		sim_preempt_disable()
#define rcu_read_unlock_sched()		sim_preempt_enable()
#define rcu_read_lock_any_held()	rcu_read_lock_held()
#define rcu_read_lock_sched_held()	rcu_read_lock_held()
#define synchronize_rcu_expedited()	synchronize_rcu()
#define synchronize_sched()		synchronize_rcu()
#define kfree_rcu(p, ...)		sim_kfree_rcu(p)
#define kvfree_rcu(p, ...)		sim_kfree_rcu(p)
#define kfree_rcu_mightsleep(p)		sim_kfree_rcu(p)
#define kvfree_rcu_mightsleep(p)	sim_kfree_rcu(p)

#define RCU_INIT_POINTER(p, v)		WRITE_ONCE(p, v)
#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)
#define rcu_access_pointer(p)		READ_ONCE(p)
#define RCU_LOCKDEP_WARN(c, s)		WARN(c, "%s", s)
#define rcu_replace_pointer(p, v, c)	\
	({ WARN_ON(!(c)); __auto_type sim_o = READ_ONCE(p); rcu_assign_pointer(p, v); sim_o; })

/* Acquire instead of a dependency: TSan does not follow dependencies. */
#define rcu_dereference_check(p, c)					\
({									\
	WARN(!(rcu_read_lock_held() || (c)), "%s read outside a read side", #p); \
	smp_load_acquire(&(p));						\
})
#define rcu_dereference(p)		rcu_dereference_check(p, 0)
#define rcu_dereference_sched(p)	rcu_dereference_check(p, 0)
#define rcu_dereference_all(p)		rcu_dereference_check(p, 0)
#define rcu_dereference_raw(p)		smp_load_acquire(&(p))
#define rcu_dereference_protected(p, c)	({ WARN_ON(!(c)); READ_ONCE(p); })

DEFINE_LOCK_GUARD_0(rcu, rcu_read_lock(), rcu_read_unlock())

#endif
