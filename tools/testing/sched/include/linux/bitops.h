/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_BITOPS_H
#define _LINUX_BITOPS_H

#include <linux/types.h>
#include <linux/atomic.h>

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (BITS_PER_LONG - 1 - (h))))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))

static inline void set_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void change_bit(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_xor(addr + BIT_WORD(nr), BIT_MASK(nr), __ATOMIC_RELAXED);
}

static inline void clear_bit_unlock(long nr, volatile unsigned long *addr)
{
	__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr), __ATOMIC_RELEASE);
}

static inline bool test_bit(long nr, const volatile unsigned long *addr)
{
	return READ_ONCE(addr[BIT_WORD(nr)]) & BIT_MASK(nr);
}

static inline bool test_bit_acquire(long nr, const volatile unsigned long *addr)
{
	return smp_load_acquire(addr + BIT_WORD(nr)) & BIT_MASK(nr);
}

static inline bool test_and_set_bit(long nr, volatile unsigned long *addr)
{
	return sim_full(__atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr),
					  __ATOMIC_SEQ_CST)) & BIT_MASK(nr);
}

static inline bool test_and_clear_bit(long nr, volatile unsigned long *addr)
{
	return sim_full(__atomic_fetch_and(addr + BIT_WORD(nr), ~BIT_MASK(nr),
					   __ATOMIC_SEQ_CST)) & BIT_MASK(nr);
}

static inline bool test_and_set_bit_lock(long nr, volatile unsigned long *addr)
{
	return __atomic_fetch_or(addr + BIT_WORD(nr), BIT_MASK(nr),
				 __ATOMIC_ACQUIRE) & BIT_MASK(nr);
}

/* The non-atomic ones are plain on purpose: TSan shall see a race there. */
static inline void __set_bit(long nr, unsigned long *addr)
{
	addr[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(long nr, unsigned long *addr)
{
	addr[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline bool __test_and_set_bit(long nr, unsigned long *addr)
{
	bool was = addr[BIT_WORD(nr)] & BIT_MASK(nr);

	__set_bit(nr, addr);
	return was;
}

static inline bool __test_and_clear_bit(long nr, unsigned long *addr)
{
	bool was = addr[BIT_WORD(nr)] & BIT_MASK(nr);

	__clear_bit(nr, addr);
	return was;
}

#define assign_bit(nr, addr, v)		((v) ? set_bit((nr), (addr)) : clear_bit((nr), (addr)))
#define __assign_bit(nr, addr, v)	((v) ? __set_bit((nr), (addr)) : __clear_bit((nr), (addr)))

static inline unsigned long __ffs(unsigned long w) { return __builtin_ctzl(w); }
static inline unsigned long __ffs64(u64 w) { return __builtin_ctzll(w); }
static inline unsigned long ffz(unsigned long w) { return __builtin_ctzl(~w); }
static inline unsigned long __fls(unsigned long w) { return 63 - __builtin_clzl(w); }
static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline int fls_long(unsigned long x) { return fls64(x); }
#define ffs(x)			__builtin_ffs(x)
static inline unsigned int hweight8(unsigned int w) { return __builtin_popcount(w & 0xff); }
static inline unsigned int hweight32(unsigned int w) { return __builtin_popcount(w); }
static inline unsigned int hweight64(u64 w) { return __builtin_popcountll(w); }
static inline unsigned long hweight_long(unsigned long w) { return __builtin_popcountl(w); }

/* Word reads are marked: other CPUs may flip bits during a search. */
static inline unsigned long sim_find(const unsigned long *addr, unsigned long size,
				     unsigned long start, unsigned long invert)
{
	unsigned long i, w;

	for (i = start; i < size; i = (i | (BITS_PER_LONG - 1)) + 1) {
		w = (READ_ONCE(addr[BIT_WORD(i)]) ^ invert) >> (i % BITS_PER_LONG);
		if (w) {
			i += __ffs(w);
			return i < size ? i : size;
		}
	}
	return size;
}

static inline unsigned long find_first_bit(const unsigned long *a, unsigned long n)
{
	return sim_find(a, n, 0, 0);
}

static inline unsigned long find_next_bit(const unsigned long *a, unsigned long n,
					  unsigned long s)
{
	return sim_find(a, n, s, 0);
}

static inline unsigned long find_first_zero_bit(const unsigned long *a, unsigned long n)
{
	return sim_find(a, n, 0, ~0UL);
}

static inline unsigned long find_next_zero_bit(const unsigned long *a, unsigned long n,
					       unsigned long s)
{
	return sim_find(a, n, s, ~0UL);
}

static inline unsigned long find_last_bit(const unsigned long *a, unsigned long n)
{
	unsigned long i = n;

	while (i--) {
		if (test_bit(i, a))
			return i;
	}
	return n;
}

static inline unsigned long find_next_bit_wrap(const unsigned long *a, unsigned long n,
					       unsigned long s)
{
	unsigned long i = find_next_bit(a, n, s);

	if (i < n)
		return i;
	i = find_first_bit(a, s);
	return i < s ? i : n;
}

#define for_each_set_bit(bit, addr, size)			\
	for ((bit) = find_first_bit((addr), (size)); (bit) < (size);	\
	     (bit) = find_next_bit((addr), (size), (bit) + 1))
#define for_each_set_bit_from(bit, addr, size)			\
	for ((bit) = find_next_bit((addr), (size), (bit)); (bit) < (size); \
	     (bit) = find_next_bit((addr), (size), (bit) + 1))
#define for_each_clear_bit(bit, addr, size)			\
	for ((bit) = find_first_zero_bit((addr), (size)); (bit) < (size); \
	     (bit) = find_next_zero_bit((addr), (size), (bit) + 1))
/* From start upwards, round to start again; start itself comes first. */
#define for_each_set_bit_wrap(bit, addr, size, start)		\
	for (unsigned long sim_n = 0,				\
	     sim_unused = ((bit) = (start) % (size), 0);	\
	     (void)sim_unused, sim_n < (size);			\
	     sim_n++, (bit) = ((bit) + 1) % (size))		\
		if (!test_bit((bit), (addr))) {} else

#endif
