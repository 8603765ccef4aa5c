/* SPDX-License-Identifier: GPL-2.0-only */
/* A static key is an int here; its switch is a release store. */
#ifndef _LINUX_JUMP_LABEL_H
#define _LINUX_JUMP_LABEL_H

#include <linux/types.h>
#include <linux/compiler.h>

struct static_key_true { int on; };
struct static_key_false { int on; };

#define STATIC_KEY_TRUE_INIT		{ 1 }
#define STATIC_KEY_FALSE_INIT		{ 0 }
#define DEFINE_STATIC_KEY_TRUE(n)	struct static_key_true n = STATIC_KEY_TRUE_INIT
#define DEFINE_STATIC_KEY_FALSE(n)	struct static_key_false n = STATIC_KEY_FALSE_INIT
#define DECLARE_STATIC_KEY_TRUE(n)	extern struct static_key_true n
#define DECLARE_STATIC_KEY_FALSE(n)	extern struct static_key_false n
#define static_branch_likely(k)		likely(smp_load_acquire(&(k)->on))
#define static_branch_unlikely(k)	unlikely(smp_load_acquire(&(k)->on))
#define static_key_enabled(k)		(smp_load_acquire(&(k)->on) != 0)
#define static_branch_enable(k)		smp_store_release(&(k)->on, 1)
#define static_branch_disable(k)	smp_store_release(&(k)->on, 0)
#define static_branch_enable_cpuslocked(k)	static_branch_enable(k)
#define static_branch_disable_cpuslocked(k)	static_branch_disable(k)

#endif
