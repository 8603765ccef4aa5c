/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros of the kernel that spatch cannot parse by itself. Given to spatch with
 * --macro-file; never compiled.
 */

#define scoped_guard	YACFE_ITERATOR
#define scoped_class	YACFE_ITERATOR

/* Annotations behind a parameter list or a member. */
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define __cond_acquires(x, y)
#define __context_unsafe(x)
#define __guarded_by(x)
#define __private
