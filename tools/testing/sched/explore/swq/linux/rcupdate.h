/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer, whose layout stays the same. */
#ifndef _LINUX_RCUPDATE_H
#define _LINUX_RCUPDATE_H

#include <linux/types.h>

#define rcu_assign_pointer(p, v)	((p) = (v))
#define RCU_INIT_POINTER(p, v)		((p) = (v))
#define rcu_access_pointer(p)		(p)

#endif
