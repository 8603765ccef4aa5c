/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer: a lock knows its holder, and whoever waits is not run. */
#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

#include <linux/types.h>

typedef struct raw_spinlock {
	int locked;			/* holder + 1 */
} raw_spinlock_t;

void explore_error(const char *what);
void explore_lock(raw_spinlock_t *l);
bool explore_trylock(raw_spinlock_t *l);
void explore_unlock(raw_spinlock_t *l);
void explore_held(const raw_spinlock_t *l);

static inline void raw_spin_lock_init(raw_spinlock_t *l)
{
	l->locked = 0;
}

#define raw_spin_lock(l)			explore_lock(l)
#define raw_spin_trylock(l)			explore_trylock(l)
#define raw_spin_unlock(l)			explore_unlock(l)
#define raw_spin_lock_irqsave(l, f)		do { (f) = 0; explore_lock(l); } while (0)
#define raw_spin_unlock_irqrestore(l, f)	do { (void)(f); explore_unlock(l); } while (0)
#define lockdep_assert_held(l)			explore_held(l)
#define lockdep_assert_irqs_disabled()		do { } while (0)

#endif
