/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw spin locks, preemption and interrupt state.
 *
 * A lock knows its holder, so lockdep_assert_held() is meant seriously and
 * taking a lock twice is reported instead of hanging. Lock classes (one per
 * place of initialisation, as in lockdep) are checked for order. Every section
 * with a lock held, preemption or interrupts off is an RCU read side.
 */
#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/lockdep.h>

#define SIM_LOCK_MAGIC		0x10c4ed

typedef struct raw_spinlock {
	int			locked;
	unsigned int		magic;
	void			*owner;
	struct lock_class_key	*key;
	struct lock_class_key	self;
	const char		*name;
} raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(l)	{ .magic = SIM_LOCK_MAGIC, .name = #l }
#define DEFINE_RAW_SPINLOCK(l)		raw_spinlock_t l = __RAW_SPIN_LOCK_UNLOCKED(l)
#define DEFINE_SPINLOCK(l)		DEFINE_RAW_SPINLOCK(l)

void sim_lock_init(raw_spinlock_t *l, struct lock_class_key *key, const char *name);
void sim_lock(raw_spinlock_t *l, unsigned int subclass);
bool sim_trylock(raw_spinlock_t *l);
void sim_unlock(raw_spinlock_t *l);
bool sim_lock_mine(const raw_spinlock_t *l);

/* Takes no const, as the kernel's does not. */
static inline bool raw_spin_is_locked(raw_spinlock_t *l)
{
	return READ_ONCE(l->locked);
}

void sim_preempt_disable(void);
void sim_preempt_enable(void);
unsigned long sim_irq_save(void);
void sim_irq_restore(unsigned long flags);
void sim_irq_set(bool on);
bool sim_irqs_disabled(void);
bool sim_atomic_context(void);

#define raw_spin_lock_init(l)						\
	do {								\
		static struct lock_class_key sim_key;			\
									\
		sim_lock_init((l), &sim_key, #l);			\
	} while (0)
#define raw_spin_lock(l)		sim_lock((l), 0)
#define raw_spin_lock_nested(l, sub)	sim_lock((l), (sub))
#define raw_spin_trylock(l)		sim_trylock(l)
#define raw_spin_unlock(l)		sim_unlock(l)
#define raw_spin_is_contended(l)	(false)
#define assert_raw_spin_locked(l)	BUG_ON(!raw_spin_is_locked(l))
#define raw_spin_lock_irq(l)		do { local_irq_disable(); raw_spin_lock(l); } while (0)
#define raw_spin_unlock_irq(l)		do { raw_spin_unlock(l); local_irq_enable(); } while (0)
#define raw_spin_lock_irqsave(l, f)	do { local_irq_save(f); raw_spin_lock(l); } while (0)
#define raw_spin_lock_irqsave_nested(l, f, s) \
	do { local_irq_save(f); raw_spin_lock_nested(l, s); } while (0)
#define raw_spin_unlock_irqrestore(l, f) \
	do { raw_spin_unlock(l); local_irq_restore(f); } while (0)
#define raw_spin_trylock_irqsave(l, f)					\
({									\
	bool sim_ok;							\
									\
	local_irq_save(f);						\
	sim_ok = raw_spin_trylock(l);					\
	if (!sim_ok)							\
		local_irq_restore(f);					\
	sim_ok;								\
})

#define spin_lock_init(l)		raw_spin_lock_init(l)
#define spin_lock(l)			raw_spin_lock(l)
#define spin_trylock(l)			raw_spin_trylock(l)
#define spin_unlock(l)			raw_spin_unlock(l)
#define spin_lock_irq(l)		raw_spin_lock_irq(l)
#define spin_unlock_irq(l)		raw_spin_unlock_irq(l)
#define spin_lock_irqsave(l, f)		raw_spin_lock_irqsave(l, f)
#define spin_unlock_irqrestore(l, f)	raw_spin_unlock_irqrestore(l, f)
#define spin_is_locked(l)		raw_spin_is_locked(l)

#define preempt_disable()		sim_preempt_disable()
#define preempt_enable()		sim_preempt_enable()
#define preempt_disable_notrace()	sim_preempt_disable()
#define preempt_enable_notrace()	sim_preempt_enable()
#define preempt_enable_no_resched()	sim_preempt_enable()
#define preemptible()			(!sim_atomic_context())
#define in_atomic()			sim_atomic_context()
#define in_interrupt()			0
#define in_task()			1
#define irqs_disabled()			sim_irqs_disabled()
#define local_irq_save(f)		((f) = sim_irq_save())
#define local_irq_restore(f)		sim_irq_restore(f)
#define local_irq_disable()		sim_irq_set(false)
#define local_irq_enable()		sim_irq_set(true)
#define raw_local_irq_save(f)		local_irq_save(f)
#define raw_local_irq_restore(f)	local_irq_restore(f)

#define lockdep_is_held(l)		sim_lock_mine(l)
#define lockdep_assert_held(l)		\
	WARN(!sim_lock_mine(l), "lock %s is not held here", #l)
#define lockdep_assert_held_once(l)	lockdep_assert_held(l)
#define lockdep_assert_not_held(l)	\
	WARN(sim_lock_mine(l), "lock %s is held here", #l)
#define lockdep_assert_irqs_disabled()	WARN(!irqs_disabled(), "interrupts are on")
#define lockdep_assert_irqs_enabled()	WARN(irqs_disabled(), "interrupts are off")
#define lockdep_assert_preemption_disabled() \
	WARN(!sim_atomic_context(), "preemption is on")
#define lockdep_set_class(l, k)		((l)->key = (k))
#define lockdep_set_class_and_name(l, k, n) ((l)->key = (k))
#define lockdep_set_novalidate_class(l)	((void)(l))

DEFINE_LOCK_GUARD_1(raw_spinlock, raw_spinlock_t,
		    raw_spin_lock(_T->lock), raw_spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irq, raw_spinlock_t,
		    raw_spin_lock_irq(_T->lock), raw_spin_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irqsave, raw_spinlock_t,
		    raw_spin_lock_irqsave(_T->lock, _T->flags),
		    raw_spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1(spinlock, spinlock_t,
		    spin_lock(_T->lock), spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_irqsave, spinlock_t,
		    spin_lock_irqsave(_T->lock, _T->flags),
		    spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_0(preempt, preempt_disable(), preempt_enable())
DEFINE_LOCK_GUARD_0(irq, local_irq_disable(), local_irq_enable())
DEFINE_LOCK_GUARD_0(irqsave, local_irq_save(_T->flags), local_irq_restore(_T->flags),
		    unsigned long flags)

#endif
