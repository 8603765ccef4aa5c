/* SPDX-License-Identifier: GPL-2.0-only */
/* Scope-bound release: __free(), guard(), scoped_guard(). */
#ifndef _LINUX_CLEANUP_H
#define _LINUX_CLEANUP_H

#include <linux/compiler.h>

#define DEFINE_FREE(name, type, code)					\
	static inline __maybe_unused void __free_##name(void *p)	\
	{ type _T = *(type *)p; code; }
#define __free(name)		__cleanup(__free_##name)
#define no_free_ptr(p)		({ __auto_type sim_np = (p); (p) = NULL; sim_np; })
#define return_ptr(p)		return no_free_ptr(p)
#define retain_and_null_ptr(p)	((void)no_free_ptr(p))

#define DEFINE_LOCK_GUARD_1(name, type, take, drop, ...)		\
	typedef struct { type *lock; __VA_ARGS__; } class_##name##_t;	\
	static inline __maybe_unused class_##name##_t			\
	class_##name##_take(type *l)					\
	{								\
		class_##name##_t t = { .lock = l }, *_T = &t;		\
									\
		take;							\
		return t;						\
	}								\
	static inline __maybe_unused void				\
	class_##name##_drop(class_##name##_t *_T)			\
	{ if (_T->lock) { drop; } }
#define DEFINE_LOCK_GUARD_0(name, take, drop, ...)			\
	typedef struct { void *lock; __VA_ARGS__; } class_##name##_t;	\
	static inline __maybe_unused class_##name##_t			\
	class_##name##_take(void)					\
	{								\
		class_##name##_t t = { .lock = (void *)1 }, *_T = &t;	\
									\
		take;							\
		(void)_T;						\
		return t;						\
	}								\
	static inline __maybe_unused void				\
	class_##name##_drop(class_##name##_t *_T)			\
	{ if (_T->lock) { drop; } }

#define sim_guard(name, var)	\
	class_##name##_t var __cleanup(class_##name##_drop) = class_##name##_take
#define guard(name)		sim_guard(name, __UNIQUE_ID(guard))
#define sim_scoped(name, s, done, ...)					\
	for (class_##name##_t s __cleanup(class_##name##_drop) =	\
		class_##name##_take(__VA_ARGS__), *done = NULL;		\
	     !done; done = &s)
#define scoped_guard(name, ...)	\
	sim_scoped(name, __UNIQUE_ID(scope), __UNIQUE_ID(done), ##__VA_ARGS__)

#endif
