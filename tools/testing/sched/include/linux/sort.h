/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_SORT_H
#define _LINUX_SORT_H

#include <stdlib.h>
#include <linux/types.h>

static inline void sort(void *base, size_t n, size_t size,
			int (*cmp)(const void *a, const void *b),
			void (*swp)(void *a, void *b, int size))
{
	(void)swp;
	qsort(base, n, size, cmp);
}

#endif
