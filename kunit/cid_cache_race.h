/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that play CPUs with a CID cache each and switch between the tasks of
 * some mms, which clone, exec and exit; a running task uses its id as user space
 * does, and so sees whether somebody else has it.
 */
#ifndef _CID_CACHE_RACE_H
#define _CID_CACHE_RACE_H

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "../cid_cache.h"
#include "cid_cache_allow.h"

#define RACE_MAX_CPUS	16
#define RACE_TASKS	10
#define RACE_MMS	2

enum { RACE_FREE, RACE_TAKEN, RACE_DEAD };

struct race_task {
	struct cid_task		t;
	int			state;
};

struct race_mm {
	struct cid_mm		cm;
	u64			owner[RACE_MAX_CPUS];
	unsigned long		allowed[1];
	int			used_by[RACE_MAX_CPUS];
	/* Plain on purpose: written under the id, the id must order it. */
	unsigned long		payload[RACE_MAX_CPUS];
	atomic_long_t		total;
	struct race_task	task[RACE_TASKS];
};

struct race {
	struct cid_env		env;
	struct cid_cache	*ptr[RACE_MAX_CPUS];
	struct cid_cache	cache[RACE_MAX_CPUS];
	struct race_mm		mm[RACE_MMS];
	const char		*error;
	u32			rnd[RACE_MAX_CPUS];
};

/**
 * struct race_cpu - a thread that plays a CPU
 * @race: what it takes part in
 * @t: the task that it runs, or NULL
 * @mm: of @t
 * @rnd: its random stream
 * @turns: turns it had
 * @cpu: which CPU it plays
 */
struct race_cpu {
	struct race		*race;
	struct race_task	*t;
	struct race_mm		*mm;
	struct rnd_state	rnd;
	unsigned long		turns;
	int			cpu;
};

static void race_fail(struct race *r, const char *error)
{
	cmpxchg_relaxed(&r->error, NULL, error);
}

/* Now and then stay between two accesses, so that the others get there too. */
static void race_step(struct cid_env *env, int cpu, enum cid_point point,
		      const struct cid_search *s, u64 a, u64 b)
{
	struct race *r = env->priv;
	u32 x = r->rnd[cpu];

	r->rnd[cpu] = x * 1664525 + 1013904223;
	x >>= 16;
#ifdef KUNIT_USERSPACE
	/* More threads than CPUs: let another one run. */
	if (point == CID_AT_GATE_WAIT || x % 8 == 0)
		cond_resched();
#else
	if (x % 64 == 0)
		udelay(1);
#endif
}

/* A running task uses its id. */
static void race_use(struct race *r, struct race_mm *mm, struct race_task *t, int cpu)
{
	int k = t->t.cid, i;

	if (k < 0 || k >= r->env.nr_ids) {
		race_fail(r, "an id out of range");
		return;
	}
	/* Relaxed: it must not lend the id an order of its own. */
	if (cmpxchg_relaxed(&mm->used_by[k], 0, cpu + 1))
		race_fail(r, "two running tasks with one id");
	mm->payload[k]++;
	for (i = 0; i < 20; i++)
		barrier();
	mm->payload[k]++;
	atomic_long_add(2, &mm->total);
	if (cmpxchg_relaxed(&mm->used_by[k], cpu + 1, 0) != cpu + 1)
		race_fail(r, "another task used an id meanwhile");
}

static struct race_task *race_pick(struct race_mm *mm, u32 start, int state)
{
	u32 i;

	for (i = 0; i < RACE_TASKS; i++) {
		struct race_task *t = &mm->task[(start + i) % RACE_TASKS];

		if (READ_ONCE(t->state) == state &&
		    cmpxchg_acquire(&t->state, state, RACE_TAKEN) == state)
			return t;
	}
	return NULL;
}

/* One switch, and what the new task then does. */
static void race_turn(struct race_cpu *rc)
{
	u32 x = prandom_u32_state(&rc->rnd);
	struct race *r = rc->race;
	int cpu = rc->cpu;
	struct cid_cache *cc = &r->cache[cpu];
	struct race_mm *nmm = &r->mm[x % RACE_MMS], *mm;
	struct race_task *n = NULL, *t;
	unsigned long flags;

	WRITE_ONCE(rc->turns, rc->turns + 1);
	if (x / 8 % 4)
		n = race_pick(nmm, x / 64, RACE_FREE);
	local_irq_save(flags);
	cid_switch(&r->env, cc, cpu, n ? &nmm->cm : NULL, n ? &n->t : NULL,
		   (u32)jiffies);
	if (!n && x / 256 % 8 == 0) {
		u64 *word = &cc->word[x / 4096 % CID_CACHE_WORDS];

		/* an eviction */
		smp_store_release(word, CID_EMPTY);
	}
	local_irq_restore(flags);
	if (rc->t) {
		/* Pairs with the acquire of race_pick(). */
		smp_store_release(&rc->t->state, RACE_FREE);
	}
	rc->t = n;
	rc->mm = nmm;
	t = n;
	mm = nmm;
	if (!t)
		return;
	race_use(r, mm, t, cpu);

	if (x / 1024 % 32 < 4) {
		struct race_task *c = race_pick(mm, x / 64, RACE_DEAD);

		if (c) {
			cid_task_init(&c->t);
			local_irq_save(flags);
			cid_clone(&r->env, cc, cpu, &mm->cm, &t->t, &c->t,
				  (u32)jiffies);
			local_irq_restore(flags);
			/* Pairs with the acquire of race_pick(). */
			smp_store_release(&c->state, RACE_FREE);
			race_use(r, mm, t, cpu);
		}
	} else if (x / 1024 % 32 == 4) {
		local_irq_save(flags);
		cid_exec_before(&r->env, cc, cpu, &mm->cm, &t->t, (u32)jiffies);
		cid_exec_after(&r->env, cc, cpu, &mm->cm, &t->t, (u32)jiffies);
		local_irq_restore(flags);
		race_use(r, mm, t, cpu);
	} else if (x / 1024 % 32 < 7 && t != &mm->task[0]) {
		local_irq_save(flags);
		cid_exit(&r->env, cc, cpu, &mm->cm, &t->t, (u32)jiffies);
		cid_switch(&r->env, cc, cpu, NULL, NULL, (u32)jiffies);
		local_irq_restore(flags);
		/* Pairs with the acquire of race_pick(). */
		smp_store_release(&t->state, RACE_DEAD);
		rc->t = NULL;
	}
}

/* The CPU runs nothing any more. */
static void race_leave(struct race_cpu *rc)
{
	unsigned long flags;

	local_irq_save(flags);
	cid_switch(&rc->race->env, &rc->race->cache[rc->cpu], rc->cpu, NULL, NULL,
		   (u32)jiffies);
	local_irq_restore(flags);
	if (rc->t) {
		/* Pairs with the acquire of race_pick(). */
		smp_store_release(&rc->t->state, RACE_FREE);
	}
	rc->t = NULL;
}

static void race_setup(struct race *r, struct race_cpu *rc, int nr_cpus, u32 keep)
{
	unsigned long all = BIT_MASK(nr_cpus) - 1;
	int i, j;

	for (i = 0; i < nr_cpus; i++) {
		r->ptr[i] = &r->cache[i];
		r->rnd[i] = i + 1;
		rc[i].race = r;
		rc[i].cpu = i;
		prandom_seed_state(&rc[i].rnd, 1000 + i);
	}
	r->env.cache = r->ptr;
	r->env.nr_cpus = nr_cpus;
	r->env.nr_ids = nr_cpus;
	r->env.keep = keep;
	r->env.quiet = true;
	r->env.step = race_step;
	r->env.priv = r;
	for (i = 0; i < RACE_MMS; i++) {
		struct race_mm *mm = &r->mm[i];

		cid_mm_init(&mm->cm, mm->allowed);
		allow_only(&mm->cm, &all, &all, nr_cpus, -1);
		cid_mm_multi(&mm->cm, mm->owner, i + 1);
		for (j = 0; j < RACE_TASKS; j++) {
			cid_task_init(&mm->task[j].t);
			mm->task[j].state = RACE_DEAD;
		}
		cid_fork(&mm->cm, &mm->task[0].t);
		mm->task[0].state = RACE_FREE;
	}
}

/*
 * Between two turns of everybody: what is wrong, or NULL. Tasks of @rc may still
 * be running.
 */
static const char *race_judge(struct race *r, const struct race_cpu *rc)
{
	struct cid_stats st = {};
	int i, j;

	if (r->error)
		return r->error;
	for (i = 0; i < r->env.nr_cpus; i++) {
		cid_stats_add(&st, &r->cache[i].stats);
		for (j = 0; j < i; j++) {
			if (rc[i].t && rc[j].t && rc[i].mm == rc[j].mm &&
			    rc[i].t->t.cid == rc[j].t->t.cid)
				return "two running tasks have one id";
		}
	}
	if (st.slow_again || st.exceeded || r->env.warned)
		return "the bound was broken, or a locked pass failed";
	for (i = 0; i < RACE_MMS; i++) {
		struct race_mm *mm = &r->mm[i];
		long sum = 0, alive = 0;

		for (j = 0; j < r->env.nr_cpus; j++)
			sum += mm->payload[j];
		for (j = 0; j < RACE_TASKS; j++)
			alive += mm->task[j].state != RACE_DEAD;
		if (sum != atomic_long_read(&mm->total))
			return "an id did not order what was written under it";
		if (atomic_read(&mm->cm.users) != alive)
			return "the number of users";
		if (mm->cm.episode & 1)
			return "a slow path without end";
	}
	return NULL;
}

#endif /* _CID_CACHE_RACE_H */
