/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_BITMAP_H
#define _LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/slab.h>

#define SIM_LAST(n)	((n) % BITS_PER_LONG ? BIT((n) % BITS_PER_LONG) - 1 : ~0UL)

static inline void bitmap_zero(unsigned long *d, unsigned int n)
{
	memset(d, 0, BITS_TO_LONGS(n) * sizeof(long));
}

static inline void bitmap_copy(unsigned long *d, const unsigned long *s, unsigned int n)
{
	memcpy(d, s, BITS_TO_LONGS(n) * sizeof(long));
}

static inline void bitmap_set(unsigned long *d, unsigned int start, unsigned int n)
{
	while (n--)
		__set_bit(start++, d);
}

static inline void bitmap_clear(unsigned long *d, unsigned int start, unsigned int n)
{
	while (n--)
		__clear_bit(start++, d);
}

static inline void bitmap_fill(unsigned long *d, unsigned int n)
{
	bitmap_zero(d, n);
	bitmap_set(d, 0, n);
}

static inline bool bitmap_empty(const unsigned long *s, unsigned int n)
{
	return find_first_bit(s, n) >= n;
}

static inline bool bitmap_full(const unsigned long *s, unsigned int n)
{
	return find_first_zero_bit(s, n) >= n;
}

#define SIM_BITMAP_LOOP(n, expr, tail)					\
	do {								\
		unsigned int k, lim = BITS_TO_LONGS(n);			\
									\
		for (k = 0; k < lim; k++) {				\
			unsigned long m = k == lim - 1 ? SIM_LAST(n) : ~0UL; \
									\
			(void)m;					\
			expr;						\
		}							\
		tail;							\
	} while (0)

static inline unsigned int bitmap_weight(const unsigned long *s, unsigned int n)
{
	unsigned int w = 0;

	SIM_BITMAP_LOOP(n, w += hweight_long(READ_ONCE(s[k]) & m), return w);
}

static inline bool bitmap_equal(const unsigned long *a, const unsigned long *b, unsigned int n)
{
	SIM_BITMAP_LOOP(n, if ((a[k] ^ b[k]) & m) return false, return true);
}

static inline bool bitmap_subset(const unsigned long *a, const unsigned long *b, unsigned int n)
{
	SIM_BITMAP_LOOP(n, if (a[k] & ~b[k] & m) return false, return true);
}

static inline bool bitmap_intersects(const unsigned long *a, const unsigned long *b, unsigned int n)
{
	SIM_BITMAP_LOOP(n, if (a[k] & b[k] & m) return true, return false);
}

static inline bool bitmap_and(unsigned long *d, const unsigned long *a,
			      const unsigned long *b, unsigned int n)
{
	unsigned long any = 0;

	SIM_BITMAP_LOOP(n, any |= d[k] = a[k] & b[k] & m, return any);
}

static inline void bitmap_or(unsigned long *d, const unsigned long *a,
			     const unsigned long *b, unsigned int n)
{
	SIM_BITMAP_LOOP(n, d[k] = a[k] | b[k], return);
}

static inline bool bitmap_andnot(unsigned long *d, const unsigned long *a,
				 const unsigned long *b, unsigned int n)
{
	unsigned long any = 0;

	SIM_BITMAP_LOOP(n, any |= d[k] = a[k] & ~b[k] & m, return any);
}

#define bitmap_zalloc(n, gfp)	((unsigned long *)kcalloc(BITS_TO_LONGS(n), sizeof(long), gfp))
#define bitmap_free(p)		kfree(p)

#endif
