/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_CACHE_H
#define _LINUX_CACHE_H

#include <linux/compiler.h>

#define L1_CACHE_SHIFT			6
#define L1_CACHE_BYTES			64
#define SMP_CACHE_BYTES			64
#define ____cacheline_aligned		__aligned(64)
#define ____cacheline_aligned_in_smp	__aligned(64)
#define __cacheline_aligned		__aligned(64)
#define __cacheline_aligned_in_smp	__aligned(64)
#define ____cacheline_internodealigned_in_smp __aligned(64)
#define cache_line_size()		64
#define __cacheline_group_begin(g)
#define __cacheline_group_end(g)

#endif
