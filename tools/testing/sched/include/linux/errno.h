/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_ERRNO_H
#define _LINUX_ERRNO_H

/* The C library's <errno.h> comes here as well. */
#include <asm-generic/errno.h>
#include <linux/types.h>

#define MAX_ERRNO	4095

static inline void *ERR_PTR(long error) { return (void *)error; }
static inline long PTR_ERR(const void *p) { return (long)p; }
static inline bool IS_ERR(const void *p) { return (unsigned long)p >= (unsigned long)-MAX_ERRNO; }
static inline bool IS_ERR_OR_NULL(const void *p) { return !p || IS_ERR(p); }
static inline int PTR_ERR_OR_ZERO(const void *p) { return IS_ERR(p) ? PTR_ERR(p) : 0; }
#define ERR_CAST(p)	((void *)(p))

#endif
