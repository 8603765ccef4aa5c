/* SPDX-License-Identifier: GPL-2.0-only */
/* get_random_*() follow the runner's --seed, so a run can be repeated. */
#ifndef _LINUX_RANDOM_H
#define _LINUX_RANDOM_H

#include <linux/types.h>

struct rnd_state {
	u64 s;
};

u32 get_random_u32(void);
u64 get_random_u64(void);
u32 prandom_u32_state(struct rnd_state *st);
void get_random_bytes(void *buf, size_t n);

#define get_random_u32_below(n)		((u32)((u64)get_random_u32() * (n) >> 32))
#define get_random_u32_inclusive(a, b)	((a) + get_random_u32_below((b) - (a) + 1))
#define get_random_long()		((unsigned long)get_random_u64())

static inline void prandom_seed_state(struct rnd_state *st, u64 seed)
{
	st->s = seed * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
}

static inline void prandom_bytes_state(struct rnd_state *st, void *buf, size_t n)
{
	u8 *p = buf;

	while (n--)
		*p++ = prandom_u32_state(st);
}


#endif
