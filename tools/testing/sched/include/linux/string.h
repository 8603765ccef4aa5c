/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_STRING_H
#define _LINUX_STRING_H

#include <string.h>
#include <strings.h>
#include <linux/types.h>

static inline ssize_t sim_strscpy(char *d, const char *s, size_t n)
{
	size_t len = strnlen(s, n);

	if (!n)
		return -7;
	if (len == n) {
		memcpy(d, s, n - 1);
		d[n - 1] = 0;
		return -7;
	}
	memcpy(d, s, len + 1);
	return len;
}
#define sim_strscpy2(d, s)	sim_strscpy(d, s, sizeof(d))
#define sim_strscpy_pick(a, b, c, ...) c
#define strscpy(d, s, ...)	\
	sim_strscpy_pick(x, ##__VA_ARGS__, sim_strscpy, sim_strscpy2)(d, s, ##__VA_ARGS__)
#define memset64(p, v, n)	\
	({ u64 *sim_m = (u64 *)(p); for (size_t sim_i = 0; sim_i < (n); sim_i++) sim_m[sim_i] = (v); })

#endif
