/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CID cache on plain arrays: caches, owner words, users, allowed CPUs.  "CPU"
 * and "task" below are indices of a struct lab, nothing else.
 *
 * A race is played by hand: the code calls the hook of struct cid_env between
 * any two accesses to shared data, and the hook runs whole operations of other
 * CPUs.  After each operation, and at each point of a random test, an oracle
 * checks what must hold:
 *  - no two running tasks of an mm have the same id;
 *  - a word that is not tentative is named by its owner word;
 *  - a RUNNING word has a holder (no id is lost);
 *  - a cache has one word per generation;
 *  - an id is below some value the bound had during the switch-in.
 *
 * Choices come from a random stream (cid_cache_kunit.c) or a fuzzer's input.
 */
#ifndef _CID_CACHE_LAB_H
#define _CID_CACHE_LAB_H

#include <linux/bitops.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "../cid_cache.h"
#include "cid_cache_allow.h"

#define LAB_CPUS	18
#define LAB_TASKS	128
#define LAB_MMS		20

struct lab_mm {
	struct cid_mm		cm;
	u64			owner[LAB_CPUS];
	unsigned long		allowed[BITS_TO_LONGS(LAB_CPUS)];
	bool			live;
};

struct lab_task {
	struct cid_task		t;
	struct lab_mm		*mm;
	int			cpu;
	bool			live;
};

struct lab_cpu {
	struct lab_task		*curr;
	struct lab_mm		*mm;		/* of the operation that is running */
	unsigned int		bound;		/* highest bound of mm during it */
	unsigned long		flags;		/* interrupts before it */
	bool			busy;		/* in the middle of an operation */
};

struct lab;

typedef void (*lab_hook)(struct lab *lab, int cpu, enum cid_point point,
			 const struct cid_search *s, u64 a, u64 b);

struct lab {
	struct cid_env		env;
	struct cid_cache	**ptr;
	struct cid_cache	cache[LAB_CPUS];
	struct lab_cpu		cpu[LAB_CPUS];
	struct lab_mm		mm[LAB_MMS];
	struct lab_task		task[LAB_TASKS];
	unsigned long		possible[BITS_TO_LONGS(LAB_CPUS)];
	atomic64_t		gen_pool;
	struct cid_gen_batch	gen_batch;
	u32			now;
	const char		*error;
	lab_hook		hook;

	/* for the hooks */
	bool			hooking;
	int			arg_cpu;
	int			hits;
	struct lab_task		*arg_task;
	unsigned int		max_probes;
	struct rnd_state	rnd;
	u32			(*choose)(struct lab *lab, u32 n);	/* instead of rnd */
	unsigned int		nr_tasks;
	unsigned int		nr_mms;
	unsigned long		max_steps;
	unsigned long		steps;
	unsigned int		depth;
};

/* ---- the oracle ---- */

static inline void lab_fail(struct lab *lab, const char *what)
{
	if (!lab->error)
		lab->error = what;
}

static inline struct lab_mm *lab_by_gen(struct lab *lab, u64 gen)
{
	int i;

	for (i = 0; i < LAB_MMS; i++) {
		if (lab->mm[i].live && lab->mm[i].cm.gen == gen)
			return &lab->mm[i];
	}
	return NULL;
}

static inline const char *lab_check_cpu(struct lab *lab, int cpu)
{
	struct cid_cache *cc = &lab->cache[cpu];
	struct lab_cpu *c = &lab->cpu[cpu];
	unsigned int i, j;

	for (i = 0; i < CID_CACHE_WORDS; i++) {
		u64 word = cc->word[i];
		bool current_word = cc->cur == i + 1;
		struct lab_mm *mm;

		if (!word)
			continue;
		if (cid_word_state(word) == 0 || cid_word_state(word) == CID_STATE_MASK)
			return "a word has no legal state";
		if (current_word != (cid_word_state(word) == CID_RUNNING) && !c->busy)
			return "a RUNNING word has no holder";
		for (j = 0; j < i; j++) {
			if (cid_word_gen(cc->word[j]) == cid_word_gen(word))
				return "two words of one gen in a cache";
		}
		mm = lab_by_gen(lab, cid_word_gen(word));
		if (!mm)
			continue;
		if (cid_word_cid(word) >= lab->env.nr_ids)
			return "a word has an id that does not exist";
		if (cid_word_state(word) == CID_RUNNING && !current_word)
			continue;	/* tentative */
		if (cid_owner_cpu(mm->owner[cid_word_cid(word)]) != cpu)
			return "a word is not named by its owner word";
	}
	if (c->busy)
		return NULL;
	if (!c->curr || c->curr->t.active != CID_ACTIVE)
		return cc->cur ? "an id is held without an active task" : NULL;
	if (c->curr->t.cid < 0 || c->curr->t.cid >= (int)lab->env.nr_ids)
		return "a running task has an illegal id";
	if (cc->cur) {
		if (cc->word[cc->cur - 1] !=
		    cid_word(c->curr->mm->cm.gen, c->curr->t.cid, CID_RUNNING))
			return "a running task's id is not the one in its word";
		return NULL;
	}
	if (c->curr->t.cid)
		return "a task without a word has an id other than 0";
	if (atomic_read(&c->curr->mm->cm.users) != 1)
		return "an implicit 0 beside other users";
	return NULL;
}

/* Ids in use of one mm: by words that are not tentative and by implicit tasks. */
static inline const char *lab_check_unique(struct lab *lab)
{
	int cpu, other;

	for (cpu = 0; cpu < (int)lab->env.nr_cpus; cpu++) {
		struct lab_task *t = lab->cpu[cpu].curr;

		if (lab->cpu[cpu].busy || !t || t->t.active != CID_ACTIVE)
			continue;
		for (other = 0; other < (int)lab->env.nr_cpus; other++) {
			struct lab_task *o = lab->cpu[other].curr;
			unsigned int i;

			if (other == cpu)
				continue;
			if (!lab->cpu[other].busy && o && o->mm == t->mm &&
			    o->t.active == CID_ACTIVE && o->t.cid == t->t.cid)
				return "two running tasks have the same id";
			if (lab->cache[cpu].cur || !t->mm->cm.gen)
				continue;
			for (i = 0; i < CID_CACHE_WORDS; i++) {
				u64 word = lab->cache[other].word[i];

				if (cid_word_gen(word) == t->mm->cm.gen &&
				    cid_word_state(word) == CID_RUNNING)
					return "a RUNNING word beside an implicit 0";
			}
		}
	}
	return NULL;
}

static inline const char *lab_check(struct lab *lab)
{
	const char *error;
	int cpu;

	for (cpu = 0; cpu < (int)lab->env.nr_cpus; cpu++) {
		error = lab_check_cpu(lab, cpu);
		if (error)
			return error;
	}
	return lab_check_unique(lab);
}

static inline void lab_oracle(struct lab *lab)
{
	const char *error;

	if (lab->error)
		return;
	error = lab_check(lab);
	if (error)
		lab_fail(lab, error);
}

/* ---- operations ---- */

static inline void lab_note_bounds(struct lab *lab)
{
	unsigned int cpu;

	for (cpu = 0; cpu < lab->env.nr_cpus; cpu++) {
		struct lab_cpu *c = &lab->cpu[cpu];

		if (c->busy && c->mm)
			c->bound = max(c->bound, cid_bound(&c->mm->cm));
	}
}

/*
 * Who looks for an id holds none of the mm: neither the one before nor one that
 * it tried to claim in vain.  The slow path counts on that.
 */
static inline void lab_check_searcher(struct lab *lab, int cpu, enum cid_point point)
{
	struct cid_cache *cc = &lab->cache[cpu];
	unsigned int i;

	if (point != CID_AT_GATE && point != CID_AT_OWNER)
		return;
	if (cc->cur)
		lab_fail(lab, "a search while an id is held");
	for (i = 0; i < CID_CACHE_WORDS; i++) {
		if (cid_word_state(cc->word[i]) == CID_RUNNING)
			lab_fail(lab, "a search beside a RUNNING word of its CPU");
	}
}

/*
 * A search is done under a runqueue lock.  Without lock it looks at the last id,
 * tries to compact and goes back, and then looks at each id three times at most,
 * once as an own one and once as one left alone.  With it, once for each pass.
 */
static inline void lab_check_length(struct lab *lab, const struct cid_search *s)
{
	bool locked = s->pass == CID_PASS_LOCKED, broken = s->pass == CID_PASS_BROKEN;
	/* With the lock the bound is another one, and what it was is gone. */
	unsigned int ids = locked || broken ? lab->env.nr_ids : s->bound;
	unsigned int most = 3 * ids + CID_COMPACT_PROBES + 2;

	if (locked)
		most += (s->try + 1) * ids;
	else if (broken)
		most += 3 * ids;
	if (s->probes > most)
		lab_fail(lab, "a search that looks at too many ids");
	lab->max_probes = max(lab->max_probes, s->probes);
}

/* Who sees a CPU that was added also sees a bound that counts it. */
static inline void lab_check_allowed(struct lab *lab)
{
	int i;

	for (i = 0; i < LAB_MMS; i++) {
		struct cid_mm *mm = &lab->mm[i].cm;

		if (!lab->mm[i].live)
			continue;
		if (hweight_long(READ_ONCE(mm->allowed[0])) > READ_ONCE(mm->nr_allowed))
			lab_fail(lab, "a CPU is allowed and not counted");
	}
}

static inline void lab_step(struct cid_env *env, int cpu, enum cid_point point,
			    const struct cid_search *s, u64 a, u64 b)
{
	struct lab *lab = env->priv;

	lab_check_searcher(lab, cpu, point);
	lab_note_bounds(lab);
	lab->steps++;
	if (s)
		lab_check_length(lab, s);
	if (point == CID_AT_ALLOWED)
		lab_check_allowed(lab);
	if (lab->hook && !lab->error)
		lab->hook(lab, cpu, point, s, a, b);
}

static inline void lab_begin(struct lab *lab, int cpu, struct lab_mm *mm)
{
	struct lab_cpu *c = &lab->cpu[cpu];

	local_irq_save(c->flags);
	c->busy = true;
	c->mm = mm;
	c->bound = mm ? cid_bound(&mm->cm) : 0;
}

static inline void lab_end(struct lab *lab, int cpu)
{
	lab_note_bounds(lab);
	lab->cpu[cpu].busy = false;
	lab->cpu[cpu].mm = NULL;
	lab_oracle(lab);
	local_irq_restore(lab->cpu[cpu].flags);
}

static inline void lab_check_bound(struct lab *lab, int cpu)
{
	lab_note_bounds(lab);
	if (lab->cpu[cpu].curr->t.cid >= (int)lab->cpu[cpu].bound)
		lab_fail(lab, "an id at or above the bound was given out");
}

/* User space has to be told of a new id, and need not be told of the old one. */
static inline void lab_check_told(struct lab *lab, bool told, bool changed)
{
	if (told != changed)
		lab_fail(lab, changed ? "nobody is told of a new id" :
			 "an id that is no new one is told");
}

/* @next may be NULL, the idle task. */
static inline void lab_switch(struct lab *lab, int cpu, struct lab_task *next)
{
	struct lab_cpu *c = &lab->cpu[cpu];
	struct lab_task *prev = c->curr;
	bool active = next && next->t.active == CID_ACTIVE;
	int before = next ? next->t.cid : CID_NONE;
	bool told;

	lab_begin(lab, cpu, active ? next->mm : NULL);
	if (next)
		next->cpu = cpu;
	told = cid_switch(&lab->env, &lab->cache[cpu], cpu,
			  active ? &next->mm->cm : NULL, next ? &next->t : NULL,
			  lab->now);
	lab_check_told(lab, told, next ? before != next->t.cid : false);
	if (prev && prev != next)
		prev->cpu = -1;
	c->curr = next;
	if (active)
		lab_check_bound(lab, cpu);
	lab_end(lab, cpu);
}

static inline struct lab_task *lab_new_task(struct lab *lab, struct lab_mm *mm)
{
	int i;

	for (i = 0; i < LAB_TASKS; i++) {
		struct lab_task *t = &lab->task[i];

		if (t->live)
			continue;
		t->live = true;
		t->mm = mm;
		t->cpu = -1;
		cid_task_init(&t->t);
		return t;
	}
	return NULL;
}

static inline struct lab_mm *lab_new_mm(struct lab *lab)
{
	int i;

	for (i = 0; i < LAB_MMS; i++) {
		struct lab_mm *mm = &lab->mm[i];

		if (mm->live)
			continue;
		memset(mm->owner, 0, sizeof(mm->owner));
		memset(mm->allowed, 0, sizeof(mm->allowed));
		cid_mm_init(&mm->cm, mm->allowed);
		allow_only(&mm->cm, lab->possible, lab->possible, LAB_CPUS, -1);
		mm->live = true;
		return mm;
	}
	return NULL;
}

/* fork(): a new mm with one task that does not run yet. */
static inline struct lab_task *lab_fork(struct lab *lab)
{
	struct lab_mm *mm = lab_new_mm(lab);
	struct lab_task *t = mm ? lab_new_task(lab, mm) : NULL;

	if (t)
		cid_fork(&mm->cm, &t->t);
	return t;
}

static inline void lab_multi(struct lab *lab, struct lab_mm *mm)
{
	if (!mm->cm.gen)
		cid_mm_multi(&mm->cm, mm->owner,
			     cid_gen_alloc(&lab->gen_pool, &lab->gen_batch));
}

/* clone(CLONE_VM) by what runs on @cpu. */
static inline struct lab_task *lab_clone(struct lab *lab, int cpu)
{
	struct lab_task *parent = lab->cpu[cpu].curr;
	struct lab_task *child = lab_new_task(lab, parent->mm);

	if (!child)
		return NULL;
	child->cpu = -2;	/* not woken yet */
	lab_multi(lab, parent->mm);
	lab_begin(lab, cpu, parent->mm);
	cid_clone(&lab->env, &lab->cache[cpu], cpu, &parent->mm->cm,
		  &parent->t, &child->t, lab->now);
	child->cpu = -1;
	lab_end(lab, cpu);
	return child;
}

static inline void lab_free_mm(struct lab_mm *mm)
{
	if (!atomic_read(&mm->cm.users))
		mm->live = false;
}

/* What runs on @cpu exits; the CPU goes idle. */
static inline void lab_exit(struct lab *lab, int cpu)
{
	struct lab_task *t = lab->cpu[cpu].curr;

	lab_begin(lab, cpu, NULL);
	cid_exit(&lab->env, &lab->cache[cpu], cpu, &t->mm->cm, &t->t, lab->now);
	lab_end(lab, cpu);
	lab_switch(lab, cpu, NULL);
	t->live = false;
	lab_free_mm(t->mm);
}

static inline void lab_exec_before(struct lab *lab, int cpu)
{
	struct lab_task *t = lab->cpu[cpu].curr;

	lab_begin(lab, cpu, NULL);
	cid_exec_before(&lab->env, &lab->cache[cpu], cpu, &t->mm->cm, &t->t,
			lab->now);
	lab_end(lab, cpu);
}

static inline bool lab_exec_mmap(struct lab *lab, int cpu)
{
	struct lab_task *t = lab->cpu[cpu].curr;
	struct lab_mm *old = t->mm;
	struct lab_mm *mm = lab_new_mm(lab);

	if (!mm)
		return false;
	lab_begin(lab, cpu, NULL);
	t->mm = mm;
	cid_exec_mmap(&lab->env, cpu, &old->cm, &mm->cm, &t->t);
	lab_end(lab, cpu);
	lab_free_mm(old);
	return true;
}

static inline void lab_exec_after(struct lab *lab, int cpu)
{
	struct lab_task *t = lab->cpu[cpu].curr;
	int before = t->t.cid;
	bool told;

	lab_begin(lab, cpu, t->mm);
	told = cid_exec_after(&lab->env, &lab->cache[cpu], cpu, &t->mm->cm,
			      &t->t, lab->now);
	lab_check_told(lab, told, before != t->t.cid);
	lab_check_bound(lab, cpu);
	lab_end(lab, cpu);
}

/* Pressure by other mms: parked words of @cpu go away. */
static inline void lab_evict(struct lab *lab, int cpu)
{
	struct cid_cache *cc = &lab->cache[cpu];
	int i;

	for (i = 0; i < CID_CACHE_WORDS; i++) {
		if (cid_word_state(cc->word[i]) == CID_PARKED) {
			/* As any eviction: pairs with the acquire of a probe. */
			smp_store_release(&cc->word[i], CID_EMPTY);
		}
	}
}

/* @ptr: one for each CPU and no more: a sanitizer shall see who looks beside it. */
static inline void lab_init(struct lab *lab, struct cid_cache **ptr,
			    unsigned int cpus, u32 keep)
{
	unsigned int i;

	lab->ptr = ptr;
	for (i = 0; i < cpus; i++) {
		lab->ptr[i] = &lab->cache[i];
		lab->possible[BIT_WORD(i)] |= BIT_MASK(i);
	}
	lab->env.cache = lab->ptr;
	lab->env.nr_cpus = cpus;
	lab->env.nr_ids = cpus;
	lab->env.keep = keep;
	lab->env.step = lab_step;
	lab->env.priv = lab;
	lab->env.quiet = true;
	lab->now = 1000;
	lab->nr_tasks = 4;
	lab->nr_mms = 2;
	atomic64_set(&lab->gen_pool, 1);
}

static inline struct cid_stats lab_stats(struct lab *lab)
{
	struct cid_stats sum;
	unsigned int cpu;

	memset(&sum, 0, sizeof(sum));
	for (cpu = 0; cpu < lab->env.nr_cpus; cpu++)
		cid_stats_add(&sum, &lab->cache[cpu].stats);
	return sum;
}

/* ---- operations by choice ---- */

static inline u32 rnd(struct lab *lab, u32 n)
{
	return lab->choose ? lab->choose(lab, n) : prandom_u32_state(&lab->rnd) % n;
}

static inline unsigned int rnd_count(struct lab *lab)
{
	unsigned int i, n = 0;

	for (i = 0; i < LAB_TASKS; i++)
		n += lab->task[i].live;
	return n;
}

static inline unsigned int rnd_mms(struct lab *lab)
{
	unsigned int i, n = 0;

	for (i = 0; i < LAB_MMS; i++)
		n += lab->mm[i].live;
	return n;
}

/* A search that starts now would wait for the operation around it. */
static inline bool rnd_blocked(struct lab_mm *mm)
{
	return cid_gate_closed(mm->cm.episode) || raw_spin_is_locked(&mm->cm.lock);
}

static inline void rnd_switch(struct lab *lab, int cpu)
{
	struct lab_task *t = &lab->task[rnd(lab, lab->nr_tasks)];

	if (!t->live || t->cpu != -1)
		t = NULL;
	if (t && rnd_blocked(t->mm))
		return;
	if (t && rnd(lab, 3) == 0)
		t->t.cid = (int)rnd(lab, lab->env.nr_ids + 1) - 1;
	lab_switch(lab, cpu, t);
}

/* One operation of a CPU that is not in the middle of one. */
static inline void rnd_op(struct lab *lab, int cpu)
{
	struct lab_task *t = lab->cpu[cpu].curr;
	unsigned int op = rnd(lab, 16);

	lab->now += rnd(lab, 2);
	/* Two that exited at the same time may have been the last ones. */
	if (!rnd_count(lab))
		lab_fork(lab);
	if (!t) {
		if (op == 0)
			lab_evict(lab, cpu);
		else
			rnd_switch(lab, cpu);
		return;
	}
	if (t->t.active == CID_EXEC) {
		/* the only thing it can do, besides being switched */
		if (op < 8) {
			if (op < 4 && rnd_mms(lab) < lab->nr_mms)
				lab_exec_mmap(lab, cpu);
			if (!rnd_blocked(t->mm))
				lab_exec_after(lab, cpu);
		} else {
			rnd_switch(lab, cpu);
		}
		return;
	}
	switch (op) {
	case 0:
	case 1:
		if (rnd_count(lab) < lab->nr_tasks)
			lab_clone(lab, cpu);
		break;
	case 2:
		if (rnd_count(lab) < lab->nr_tasks && rnd_mms(lab) < lab->nr_mms)
			lab_fork(lab);
		break;
	case 3:
		if (rnd_count(lab) > 1)
			lab_exit(lab, cpu);
		break;
	case 4:
		lab_exec_before(lab, cpu);
		break;
	case 5:
		/* a fresh union grows by and by */
		allow(&lab->env, cpu, &t->mm->cm, lab->possible, lab->possible, LAB_CPUS);
		break;
	default:
		rnd_switch(lab, cpu);
		break;
	}
}

static inline void hook_random(struct lab *lab, int cpu, enum cid_point point,
			       const struct cid_search *s, u64 a, u64 b)
{
	lab_oracle(lab);
	if (lab->depth >= lab->env.nr_cpus)
		return;
	lab->depth++;
	while (!lab->error && lab->steps < lab->max_steps && rnd(lab, 3) == 0) {
		int other = rnd(lab, lab->env.nr_cpus);

		if (!lab->cpu[other].busy)
			rnd_op(lab, other);
	}
	lab->depth--;
}

static inline bool rnd_expired(struct cid_env *env, int cpu, int owner, unsigned int slot)
{
	struct lab *lab = env->priv;

	return rnd(lab, 2);
}

#endif /* _CID_CACHE_LAB_H */
