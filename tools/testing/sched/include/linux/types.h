/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <linux/compiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As in the kernel 64 bits are long long, so that %llu fits. */
typedef uint8_t			u8;
typedef uint16_t		u16;
typedef uint32_t		u32;
typedef unsigned long long	u64;
typedef int8_t			s8;
typedef int16_t			s16;
typedef int32_t			s32;
typedef long long		s64;
typedef u8			__u8;
typedef u16			__u16;
typedef u32			__u32;
typedef u64			__u64;
typedef s32			__s32;
typedef s64			__s64;
typedef unsigned int		gfp_t;
typedef unsigned short		umode_t;

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

typedef struct {
	long counter;
} atomic_long_t;

struct list_head {
	struct list_head *next, *prev;
};

struct callback_head {
	struct callback_head *next;
	void (*func)(struct callback_head *head);
} __aligned(sizeof(void *));
#define rcu_head callback_head

#define BITS_PER_BYTE		8
#define BITS_PER_LONG		64
#define BITS_PER_LONG_LONG	64
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

#endif
