/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_LOCKDEP_H
#define _LINUX_LOCKDEP_H

/* Zero until the class is first used. */
struct lock_class_key {
	unsigned int id;
};

#define lockdep_register_key(k)		((void)(k))
#define lockdep_unregister_key(k)	((void)(k))
#define SINGLE_DEPTH_NESTING		1

#include <linux/spinlock.h>

#endif
