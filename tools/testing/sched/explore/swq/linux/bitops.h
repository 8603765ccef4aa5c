/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer: see compiler.h. test_bit() goes through READ_ONCE(). */
#ifndef _EXPLORE_BITOPS_H
#define _EXPLORE_BITOPS_H

#include_next <linux/bitops.h>

#define set_bit(nr, addr)						\
({									\
	explore_point(addr);						\
	(set_bit)(nr, addr);						\
})
#define clear_bit(nr, addr)						\
({									\
	explore_point(addr);						\
	(clear_bit)(nr, addr);						\
})
#define test_and_clear_bit(nr, addr)					\
({									\
	explore_point(addr);						\
	(test_and_clear_bit)(nr, addr);					\
})

#endif
