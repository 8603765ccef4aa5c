/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_MUTEX_H
#define _LINUX_MUTEX_H

#include <pthread.h>
#include <linux/spinlock.h>

/*
 * The first two members are as in raw_spinlock_t's use by
 * lockdep_assert_held(): the raw lock inside carries the owner.
 */
struct mutex {
	pthread_mutex_t		m;
	void			*owner;
};

#define __MUTEX_INITIALIZER(x)	{ .m = PTHREAD_MUTEX_INITIALIZER }
#define DEFINE_MUTEX(x)		struct mutex x = __MUTEX_INITIALIZER(x)

void mutex_init(struct mutex *m);
void mutex_lock(struct mutex *m);
int mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool sim_mutex_mine(const struct mutex *m);

#define mutex_destroy(x)		((void)(x))
#define mutex_lock_nested(m, s)		mutex_lock(m)
#define mutex_lock_interruptible(m)	({ mutex_lock(m); 0; })
#define mutex_lock_killable(m)		({ mutex_lock(m); 0; })
#define mutex_is_locked(x)		(READ_ONCE((x)->owner) != NULL)

/* A lock of either kind. */
#undef lockdep_is_held
#define lockdep_is_held(l)						\
	_Generic((l), struct mutex * : sim_mutex_mine((void *)(l)),	\
		 const struct mutex * : sim_mutex_mine((void *)(l)),	\
		 default : sim_lock_mine((void *)(l)))
#undef lockdep_assert_held
#define lockdep_assert_held(l)		\
	WARN(!lockdep_is_held(l), "lock %s is not held here", #l)

DEFINE_LOCK_GUARD_1(mutex, struct mutex, mutex_lock(_T->lock), mutex_unlock(_T->lock))

#endif
