/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_COMPLETION_H
#define _LINUX_COMPLETION_H

#include <pthread.h>
#include <linux/types.h>

struct completion {
	pthread_mutex_t	m;
	pthread_cond_t	c;
	unsigned int	done;
};

#define COMPLETION_INITIALIZER(x)	\
	{ .m = PTHREAD_MUTEX_INITIALIZER, .c = PTHREAD_COND_INITIALIZER }
#define DECLARE_COMPLETION(x)		struct completion x = COMPLETION_INITIALIZER(x)
#define DECLARE_COMPLETION_ONSTACK(x)	DECLARE_COMPLETION(x)

void init_completion(struct completion *x);
void reinit_completion(struct completion *x);
void complete(struct completion *x);
void complete_all(struct completion *x);
void wait_for_completion(struct completion *x);
unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout);
bool try_wait_for_completion(struct completion *x);
bool completion_done(struct completion *x);
#define wait_for_completion_interruptible(x)	({ wait_for_completion(x); 0; })

#endif
