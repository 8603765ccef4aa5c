/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the explorers share: coroutines that can be put back to where they were,
 * a set of states seen, where each state came from, states still to be visited.
 *
 * Included by the one file of each explorer, which says first how many coroutines
 * there are (MAXCO).
 */
#ifndef _EXPLORE_ENGINE_H
#define _EXPLORE_ENGINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define STACK		(32 * 1024)

static const char *explore_prog = "explore";
static const char *error;
static u32 error_id;

void explore_error(const char *what)
{
	if (!error)
		error = what;
}

/* What the stubs of the kernel's headers call. */
void sim_warn(const char *file, int line, const char *fmt, ...)
{
	explore_error("the code warned");
}

void sim_bug(const char *file, int line, const char *fmt, ...)
{
	fprintf(stderr, "%s: BUG at %s:%d\n", explore_prog, file, line);
	abort();
}

bool sim_warn_first(unsigned int *seen)
{
	return true;
}

void sim_printk(const char *fmt, ...)
{
}

void sim_yield(void);
void sim_yield(void)
{
}

/* Counted by the stub of smp_mb(), of no interest here. */
__thread unsigned long sim_full_barriers;

static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", explore_prog);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static struct co {
	jmp_buf		jb;
	char		*sp;
	char		*stack;
} co[MAXCO];

static jmp_buf main_jb;
static ucontext_t main_uc;
/* ---- coroutines ---- */

static noinline void co_yield(unsigned int c)
{
	char *sp;

	__asm__ __volatile__("mov %%rsp, %0" : "=r" (sp));
	co[c].sp = sp;
	if (!_setjmp(co[c].jb))
		_longjmp(main_jb, 1);
}

static noinline void co_resume(unsigned int c)
{
	if (!_setjmp(main_jb))
		_longjmp(co[c].jb, 1);
}

/* Runs @fn(@i) until it yields for the first time. */
static void co_start(unsigned int i, void (*fn)(int i))
{
	/* Not on the stack: a coroutine comes back here by longjmp(). */
	static ucontext_t uc;

	co[i].stack = aligned_alloc(64, STACK);
	if (!co[i].stack)
		die("out of memory");
	getcontext(&uc);
	uc.uc_stack.ss_sp = co[i].stack;
	uc.uc_stack.ss_size = STACK;
	makecontext(&uc, (void (*)(void))fn, 1, i);
	if (!_setjmp(main_jb))
		swapcontext(&main_uc, &uc);
}

/* ---- sets ---- */

struct set {
	u64	*slot;
	u64	size, n;
};

static bool set_add(struct set *s, u64 h)
{
	u64 i;

	if (s->n * 4 >= s->size * 3) {
		u64 *old = s->slot, old_size = s->size;

		s->size = old_size ? old_size * 2 : 1 << 16;
		s->slot = calloc(s->size, sizeof(u64));
		if (!s->slot)
			die("out of memory with %llu states; take fewer CPUs, mms or threads",
			    (unsigned long long)s->n);
		s->n = 0;
		for (i = 0; i < old_size; i++) {
			if (old[i])
				set_add(s, old[i]);
		}
		free(old);
	}
	for (i = h & (s->size - 1); s->slot[i]; i = (i + 1) & (s->size - 1)) {
		if (s->slot[i] == h)
			return false;
	}
	s->slot[i] = h;
	s->n++;
	return true;
}

static u64 mix(u64 h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	h ^= h >> 29;
	h *= 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

/* ---- where states come from, and those to be visited ---- */

struct origin {
	u32	parent;
	u8	cpu, op, point, arg;
};

static struct origin *origin;
static u64 origin_size;

static void note_origin(u32 id, u32 parent, unsigned int c, u8 op, u8 point, u8 arg)
{
	if (id >= origin_size) {
		origin_size = origin_size ? origin_size * 2 : 1 << 16;
		origin = realloc(origin, origin_size * sizeof(*origin));
		if (!origin)
			die("out of memory for traces");
	}
	origin[id] = (struct origin){ parent, c, op, point, arg };
}

struct queue {
	struct saved	**v;
	u64		n, size;
};

static void push(struct queue *q, struct saved *s)
{
	if (q->n == q->size) {
		q->size = q->size ? q->size * 2 : 1024;
		q->v = realloc(q->v, q->size * sizeof(*q->v));
		if (!q->v)
			die("out of memory for the queue");
	}
	q->v[q->n++] = s;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

#endif
