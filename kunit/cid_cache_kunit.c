// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the CID cache on plain arrays: see cid_cache_lab.h.  Races are
 * played by hand, at the places where the code calls the hook of struct cid_env.
 *
 * The last test runs the same operations from real threads.
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "cid_cache_lab.h"
#include "cid_cache_race.h"

static struct lab *lab_new(struct kunit *test, unsigned int cpus, u32 keep)
{
	struct lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct cid_cache **ptr;

	KUNIT_ASSERT_NOT_NULL(test, lab);
	KUNIT_ASSERT_LE(test, cpus, (unsigned int)LAB_CPUS);
	ptr = kunit_kcalloc(test, cpus, sizeof(*ptr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ptr);
	lab_init(lab, ptr, cpus, keep);
	return lab;
}

#define lab_expect_ok(test, lab)						\
	KUNIT_EXPECT_STREQ(test, (lab)->error ?: "ok", "ok")

/* An mm with @n tasks, none running; ids 0..n-1 parked at CPUs 0..n-1. */
static struct lab_mm *lab_group(struct kunit *test, struct lab *lab,
				struct lab_task **t, unsigned int n)
{
	unsigned int i;

	t[0] = lab_fork(lab);
	KUNIT_ASSERT_NOT_NULL(test, t[0]);
	lab_switch(lab, 0, t[0]);
	for (i = 1; i < n; i++) {
		t[i] = lab_clone(lab, 0);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
	}
	for (i = 1; i < n && i < lab->env.nr_cpus; i++)
		lab_switch(lab, i, t[i]);
	for (i = 0; i < n && i < lab->env.nr_cpus; i++) {
		KUNIT_EXPECT_EQ(test, t[i]->t.cid, (int)i);
		lab_switch(lab, i, NULL);
	}
	lab_expect_ok(test, lab);
	return t[0]->mm;
}

/* ---- encoding ---- */

static void encoding(struct kunit *test)
{
	u64 word, o;

	word = cid_word(CID_GEN_MAX, CID_ID_MAX, CID_RUNNING);
	KUNIT_EXPECT_EQ(test, cid_word_gen(word), CID_GEN_MAX);
	KUNIT_EXPECT_EQ(test, cid_word_cid(word), CID_ID_MAX);
	KUNIT_EXPECT_EQ(test, cid_word_state(word), CID_RUNNING);
	word = cid_word(1, 0, CID_PARKED);
	KUNIT_EXPECT_NE(test, word, CID_EMPTY);
	KUNIT_EXPECT_EQ(test, cid_word_gen(word), 1ULL);
	KUNIT_EXPECT_EQ(test, cid_word_cid(word), 0U);
	KUNIT_EXPECT_NE(test, cid_word(1, 0, CID_RUNNING), CID_EMPTY);
	KUNIT_EXPECT_EQ(test, word ^ (CID_RUNNING ^ CID_PARKED),
			cid_word(1, 0, CID_RUNNING));

	KUNIT_EXPECT_EQ(test, cid_owner_cpu(0), -1);
	o = cid_owner_next(0, 0);
	KUNIT_EXPECT_NE(test, o, 0ULL);
	KUNIT_EXPECT_EQ(test, cid_owner_cpu(o), 0);
	KUNIT_EXPECT_NE(test, cid_owner_next(o, 0), o);
	KUNIT_EXPECT_EQ(test, cid_owner_cpu(cid_owner_next(o, 8191)), 8191);
	/* seq wraps into nothing but itself */
	o = ((u64)5 << CID_SEQ_BITS) | CID_SEQ_MASK;
	KUNIT_EXPECT_EQ(test, cid_owner_cpu(o), 4);
	KUNIT_EXPECT_EQ(test, cid_owner_next(o, 4), (u64)5 << CID_SEQ_BITS);
	KUNIT_EXPECT_EQ(test, cid_owner_cpu(cid_owner_next(o, 7)), 7);
	KUNIT_EXPECT_NE(test, cid_owner_next(o, 4), o);
}

static void seq_wraps_in_use(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];
	struct lab_mm *mm = lab_group(test, lab, t, 3);
	int i;

	for (i = 0; i < 3; i++)
		mm->owner[i] |= CID_SEQ_MASK - 1;
	for (i = 0; i < 12; i++) {
		lab_switch(lab, i % 3, t[0]);
		lab_switch(lab, (i + 1) % 3, t[1]);
		lab_switch(lab, i % 3, NULL);
		lab_switch(lab, (i + 1) % 3, NULL);
		lab_evict(lab, i % 3);
	}
	lab_expect_ok(test, lab);
}

static void generations(struct kunit *test)
{
	struct cid_gen_batch a = { 0, 0 }, b = { 0, 0 };
	atomic64_t pool = ATOMIC64_INIT(1);
	u64 last_a = 0, last_b = 0, first, size, gen;
	int i;

	for (i = 0; i < 1000; i++) {
		u64 ga = cid_gen_alloc(&pool, &a), gb = cid_gen_alloc(&pool, &b);

		KUNIT_ASSERT_NE(test, ga, 0ULL);
		KUNIT_ASSERT_NE(test, ga, gb);
		KUNIT_ASSERT_GT(test, ga, last_a);
		KUNIT_ASSERT_GT(test, gb, last_b);
		last_a = ga;
		last_b = gb;
	}
	atomic64_set(&pool, CID_GEN_MAX - 1);
	a.next = a.end;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &a), 0ULL);

	/* A batch that ends with the last generation is still a whole one. */
	atomic64_set(&pool, 1);
	b.next = b.end;
	KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &b), 1ULL);
	size = b.end - 1;
	KUNIT_EXPECT_GT(test, size, 1ULL);
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&pool), b.end);
	b.next = b.end;
	first = CID_GEN_MAX - size + 1;
	atomic64_set(&pool, first);
	for (gen = first; gen <= CID_GEN_MAX; gen++)
		KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &b), gen);
	KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &b), 0ULL);
	/* One that would go beyond it is not begun. */
	atomic64_set(&pool, first + 1);
	KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &b), 0ULL);
	/* Nor is one that begins with no generation at all. */
	atomic64_set(&pool, 0);
	KUNIT_EXPECT_EQ(test, cid_gen_alloc(&pool, &b), 0ULL);
}

/* ---- races played by hand ---- */

static bool lab_once(struct lab *lab)
{
	if (lab->hooking)
		return false;
	lab->hooking = true;
	lab->hits++;
	return true;
}

/* CPU 2 is about to claim id 0, which it saw absent at CPU 0; 0 retakes it. */
static void hook_own_retake(struct lab *lab, int cpu, enum cid_point point,
			    const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 2 && point == CID_AT_CLAIM && s->k == 0 && lab_once(lab))
		lab_switch(lab, 0, lab->arg_task);
}

static void own_retake(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_evict(lab, 0);
	lab_evict(lab, 2);
	t[2]->t.cid = 0;
	lab->arg_task = t[0];
	lab->hook = hook_own_retake;
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_NE(test, t[2]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.lost_claims, 1ULL);
}

/* The claim has succeeded: the word must be there, for a third CPU to see. */
static void hook_claimed(struct lab *lab, int cpu, enum cid_point point,
			 const struct cid_search *s, u64 a, u64 b)
{
	if (cpu != 2 || point != CID_AT_CLAIMED || !lab_once(lab))
		return;
	if (lab->cache[2].word[s->slot] != cid_word(s->mm->gen, s->k, CID_RUNNING))
		lab_fail(lab, "the owner word names a cache without the word");
	lab->arg_task->t.cid = s->k;
	lab_switch(lab, 1, lab->arg_task);
}

static void word_before_claim(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_evict(lab, 0);
	lab_evict(lab, 1);
	lab_evict(lab, 2);
	t[2]->t.cid = 0;
	lab->arg_task = t[1];
	lab->hook = hook_claimed;
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 0);
	KUNIT_EXPECT_NE(test, t[1]->t.cid, 0);
}

/* CPU 0 is about to resume id 0: CPU 1 steals it. */
static void hook_steal_in_resume(struct lab *lab, int cpu, enum cid_point point,
				 const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 0 && point == CID_AT_RESUME && lab_once(lab))
		lab_switch(lab, 1, lab->arg_task);
}

static void steal_in_resume(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_evict(lab, 1);
	t[1]->t.cid = 0;
	lab->arg_task = t[1];
	lab->hook = hook_steal_in_resume;
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 0);
	KUNIT_EXPECT_NE(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.lost_resumes, 1ULL);
}

/* CPU 1 is about to steal id 0 from CPU 0, which resumes it right then. */
static void hook_resume_in_steal(struct lab *lab, int cpu, enum cid_point point,
				 const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 1 && point == CID_AT_STEAL && s->k == 0 && lab_once(lab))
		lab_switch(lab, 0, lab->arg_task);
}

static void resume_in_steal(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_evict(lab, 1);
	t[1]->t.cid = 0;
	lab->arg_task = t[0];
	lab->hook = hook_resume_in_steal;
	lab_switch(lab, 1, t[1]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_NE(test, t[1]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.hit, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[1].stats.lost_claims, 0ULL);
	lab_expect_ok(test, lab);
}

/* CPU 1 is about to steal id 0 from CPU 0, which evicts it right then. */
static void hook_evict_in_steal(struct lab *lab, int cpu, enum cid_point point,
				const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == lab->arg_cpu && point == CID_AT_STEAL && lab_once(lab))
		lab_evict(lab, cid_owner_cpu(s->o));
}

static void evict_in_steal(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2];

	/* Two users, so two ids; 1 is running, 0 is the only one left. */
	lab_group(test, lab, t, 2);
	lab_switch(lab, 1, t[1]);
	lab->arg_cpu = 2;
	lab->hook = hook_evict_in_steal;
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.last_id, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.slow, 0ULL);
}

/* Id 1 is resumed by its CPU just when it is to be stolen. */
static void hook_resume_young(struct lab *lab, int cpu, enum cid_point point,
			      const struct cid_search *s, u64 a, u64 b)
{
	if (cpu != 3 || point != CID_AT_OWNER || s->pass != CID_PASS_YOUNG || lab->hits)
		return;
	lab->hits++;
	lab_switch(lab, 1, lab->arg_task);
}

/* All that could be taken is young: one after the other, and no lock. */
static void young_ones_in_turn(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, 100);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_switch(lab, 0, t[0]);
	t[1]->t.cid = CID_NONE;
	lab->arg_task = t[2];
	lab->hook = hook_resume_young;
	lab_switch(lab, 3, t[1]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.stolen, 1ULL);
	KUNIT_EXPECT_EQ(test, lab_stats(lab).slow, 0ULL);
}

/* The clock goes on while an id is looked for. */
static void time_of_others(struct kunit *test)
{
	struct cid_env env = { .keep = 100 };
	struct cid_cache *cc = kunit_kzalloc(test, sizeof(*cc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cc);
	cc->stamp[1] = 1000;
	/* Parked by CPU 1 after CPU 0 had begun to look. */
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, 999));
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, 1000));
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, 1099));
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 0, 1, cc, 1, 1100));
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 1, 1, cc, 1, 1099));
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 1, 1, cc, 1, 1100));
	/* 32 bits are enough for weeks, and go round. */
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 0, 1, cc, 1, 0x80000000));
	cc->stamp[1] = -50;
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, -51));
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, 49));
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 0, 1, cc, 1, 50));
	/* Packing knows no age. */
	WRITE_ONCE(env.keep, 0);
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 0, 1, cc, 1, -51));
	KUNIT_EXPECT_TRUE(test, cid_expired(&env, 1, 1, cc, 1, -50));
	WRITE_ONCE(env.keep, CID_KEEP_FOREVER);
	KUNIT_EXPECT_FALSE(test, cid_expired(&env, 0, 1, cc, 1, 0x80000000));
}

/* The bound is broken by a CPU of the second word of the allowed ones. */
static void bound_broken_beyond_64(struct kunit *test)
{
	struct cid_cache *cc = kunit_kzalloc(test, 2 * sizeof(*cc), GFP_KERNEL);
	struct cid_cache **ptr = kunit_kzalloc(test, 70 * sizeof(*ptr), GFP_KERNEL);
	struct cid_env env = { .cache = ptr, .nr_cpus = 70, .nr_ids = 2, .quiet = true };
	unsigned long storage[2] = { 0, 0 }, mask[2] = { BIT_MASK(0), BIT_MASK(1) };
	struct cid_task t[2];
	unsigned long flags;
	struct cid_mm mm;
	u64 owner[2] = { 0, 0 };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, cc);
	KUNIT_ASSERT_NOT_NULL(test, ptr);
	for (i = 0; i < 70; i++)
		ptr[i] = i == 69 ? &cc[1] : &cc[0];
	cid_mm_init(&mm, storage);
	cid_mm_multi(&mm, owner, 5);
	allow_only(&mm, mask, mask, 128, -1);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 2U);
	for (i = 0; i < 2; i++) {
		cid_task_init(&t[i]);
		t[i].active = CID_ACTIVE;
	}
	atomic_set(&mm.users, 2);
	WRITE_ONCE(mm.nr_allowed, 1);
	local_irq_save(flags);
	cid_switch(&env, &cc[0], 0, &mm, &t[0], 0);
	cid_switch(&env, &cc[1], 69, &mm, &t[1], 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, env.warned);
	KUNIT_EXPECT_EQ(test, t[0].cid, 0);
	KUNIT_EXPECT_EQ(test, t[1].cid, 1);
	/* 0 and 65 as before, and 69. */
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 3U);
	KUNIT_EXPECT_EQ(test, storage[1], BIT_MASK(1) | BIT_MASK(5));
}

/* Make the times behind the words of a cache look like a word. */
static void forge(struct lab *lab, int cpu, u64 word)
{
	memcpy(lab->cache[cpu].stamp, &word, sizeof(word));
}

/* A CPU has so many words and no more: what comes behind them is something else. */
static void stamps_are_no_words(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_mm *mm;
	struct lab_task *t[3];
	u64 gen;
	int k;

	BUILD_BUG_ON(offsetof(struct cid_cache, stamp) != sizeof_field(struct cid_cache, word));
	mm = lab_group(test, lab, t, 3);
	gen = mm->cm.gen;
	for (k = 0; k < 3; k++) {
		lab_evict(lab, k);
		forge(lab, k, cid_word(gen, k, CID_RUNNING));
	}
	/* Nobody has one ... */
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), -1);
	KUNIT_EXPECT_LT(test, cid_find(&lab->cache[2], gen), 0);
	/* ... so nobody is in the way. */
	t[0]->t.cid = 1;
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.last_id, 1ULL);
	lab_expect_ok(test, lab);
}

/* What an id is counted as: taken out of another cache, or found in none. */
static void stolen_or_free(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2];

	/* Id 0 is in use, id 1 is parked and young, and there is no other. */
	lab_group(test, lab, t, 2);
	lab_switch(lab, 0, t[0]);
	t[1]->t.cid = CID_NONE;
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.stolen, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.free_id, 0ULL);
	KUNIT_EXPECT_LT(test, cid_find(&lab->cache[1], t[1]->mm->cm.gen), 0);

	/* It is evicted: free, although its owner word still names CPU 2. */
	lab_switch(lab, 2, NULL);
	lab_evict(lab, 2);
	memset(&lab->cache[1].stats, 0, sizeof(struct cid_stats));
	t[1]->t.cid = CID_NONE;
	lab_switch(lab, 1, t[1]);
	KUNIT_EXPECT_EQ(test, lab->cache[1].stats.stolen, 0ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[1].stats.free_id, 1ULL);

	/* It is evicted just when it is to be stolen. */
	lab_switch(lab, 1, NULL);
	lab->arg_cpu = 2;
	lab->hook = hook_evict_in_steal;
	memset(&lab->cache[2].stats, 0, sizeof(struct cid_stats));
	t[1]->t.cid = CID_NONE;
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.stolen, 0ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.free_id, 1ULL);
	lab_expect_ok(test, lab);
}

/* CPU 2 has stolen id 1 and not claimed it yet: CPU 1 takes it again. */
static void hook_claim_stolen(struct lab *lab, int cpu, enum cid_point point,
			      const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 2 && point == CID_AT_CLAIM && s->stolen && lab_once(lab))
		lab_switch(lab, 1, lab->arg_task);
}

/* A steal that came to nothing does not make the next id a stolen one. */
static void stolen_in_vain(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct cid_stats *st = &lab->cache[2].stats;
	struct lab_task *t[3];
	struct lab_mm *mm = lab_group(test, lab, t, 3);

	lab_switch(lab, 0, t[0]);
	/* The task had id 1 last; id 2 is free and was nobody's ever. */
	lab_evict(lab, 2);
	mm->owner[2] = 0;
	memset(st, 0, sizeof(*st));
	t[2]->t.cid = 1;
	lab->arg_task = t[1];
	lab->hook = hook_claim_stolen;
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, st->lost_claims, 1ULL);
	KUNIT_EXPECT_EQ(test, st->stolen, 0ULL);
	KUNIT_EXPECT_EQ(test, st->free_id, 1ULL);
	lab_expect_ok(test, lab);
}

/* CPU 1 looks at slot @arg_cpu of CPU 0: that one resumes and parks its id. */
static void hook_every_slot(struct lab *lab, int cpu, enum cid_point point,
			    const struct cid_search *s, u64 a, u64 b)
{
	if (cpu != 1 || point != CID_AT_WORD || (int)b != lab->arg_cpu ||
	    cid_owner_cpu(s->o) != 0 || !lab_once(lab))
		return;
	lab_switch(lab, 0, lab->arg_task);
	lab_switch(lab, 0, NULL);
}

/* Fill the slots below @slot of @cpu with words of an mm that is gone. */
static void lab_fill(struct lab *lab, int cpu, unsigned int slot)
{
	unsigned int i;

	for (i = 0; i < slot; i++)
		lab->cache[cpu].word[i] = cid_word(CID_GEN_MAX - i, 0, CID_PARKED);
}

static void every_slot(struct kunit *test)
{
	unsigned int slot, at;

	for (slot = 0; slot < CID_CACHE_WORDS; slot++) {
		for (at = 0; at < CID_CACHE_WORDS; at++) {
			struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
			struct lab_task *t[3];

			lab_fill(lab, 0, slot);
			lab_group(test, lab, t, 3);
			KUNIT_ASSERT_EQ(test, cid_word_cid(lab->cache[0].word[slot]), 0U);
			lab_evict(lab, 1);
			t[1]->t.cid = 0;
			lab->arg_task = t[0];
			lab->arg_cpu = at;
			lab->hook = hook_every_slot;
			lab_switch(lab, 1, t[1]);
			/* Not looked at if the word was found before. */
			KUNIT_EXPECT_EQ(test, lab->hits, at <= slot ? 1 : 0);
			lab_expect_ok(test, lab);

			/* Parked, evicted: another CPU finds or claims it. */
			lab->hook = NULL;
			lab_switch(lab, 1, NULL);
			lab_evict(lab, 1);
			t[0]->t.cid = 0;
			lab_switch(lab, 2, t[0]);
			lab_expect_ok(test, lab);
			kunit_kfree(test, lab);
		}
	}
}

/* ---- life of an mm ---- */

static void new_generation(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];
	struct lab_mm *mm;
	int round, i;

	for (round = 0; round < 5; round++) {
		mm = lab_group(test, lab, t, 3);
		/* Other CPUs than the ids suggest. */
		for (i = 0; i < 3; i++) {
			lab_switch(lab, (i + round) % 3, t[i]);
			lab_switch(lab, (i + round) % 3, NULL);
		}
		for (i = 0; i < 3; i++) {
			lab_switch(lab, i, t[i]);
			lab_exit(lab, i);
		}
		KUNIT_EXPECT_FALSE(test, mm->live);
		lab_expect_ok(test, lab);
	}
}

/* A generation that is used twice must not go unnoticed by the oracle. */
static void oracle_sees_reuse(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];
	struct lab_mm *mm;
	u64 gen;
	int i;

	mm = lab_group(test, lab, t, 3);
	gen = mm->cm.gen;
	for (i = 0; i < 3; i++) {
		lab_switch(lab, i, t[i]);
		lab_exit(lab, i);
	}
	lab_expect_ok(test, lab);
	t[0] = lab_fork(lab);
	lab_switch(lab, 2, t[0]);
	cid_mm_multi(&t[0]->mm->cm, t[0]->mm->owner, gen);
	lab_clone(lab, 2);
	KUNIT_EXPECT_NOT_NULL(test, lab->error);
}

static void single_again(struct kunit *test)
{
	int stale, at;
	u64 single;

	/* A stale parked 0 at any CPU, the clone at any CPU. */
	for (stale = 0; stale < 3; stale++) {
		for (at = 0; at < 3; at++) {
			struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
			struct lab_task *t[3];

			lab_group(test, lab, t, 2);
			lab_evict(lab, stale);
			t[0]->t.cid = 0;
			lab_switch(lab, stale, t[0]);
			KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
			lab_switch(lab, stale, NULL);
			lab_switch(lab, (stale + 1) % 3, t[1]);
			lab_exit(lab, (stale + 1) % 3);

			single = lab->cache[at].stats.single;
			lab_switch(lab, at, t[0]);
			KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
			KUNIT_EXPECT_EQ(test, (int)lab->cache[at].cur, 0);
			KUNIT_EXPECT_EQ(test, lab->cache[at].stats.single, single + 1);
			t[2] = lab_clone(lab, at);
			KUNIT_EXPECT_NE(test, (int)lab->cache[at].cur, 0);
			lab_expect_ok(test, lab);
			t[2]->t.cid = 0;
			if (at != stale) {
				lab_switch(lab, stale, t[2]);
				KUNIT_EXPECT_EQ(test, t[2]->t.cid, 1);
			}
			lab_expect_ok(test, lab);
			KUNIT_EXPECT_FALSE(test, lab->env.warned);
			kunit_kfree(test, lab);
		}
	}
}

static void exec_fails(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2];
	struct lab_mm *mm = lab_group(test, lab, t, 2);

	lab_switch(lab, 0, t[0]);
	lab_exec_before(lab, 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[0].cur, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	/* Switched out and in during execve: still without an id. */
	lab_switch(lab, 0, NULL);
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[2].cur, 0);
	lab_switch(lab, 1, t[1]);
	lab_exec_after(lab, 2);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	KUNIT_EXPECT_NE(test, t[0]->t.cid, t[1]->t.cid);

	/* Killed in the middle of an execve: counted until then, and no longer. */
	lab_exec_before(lab, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	lab_exit(lab, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
	lab_expect_ok(test, lab);
}

static void exec_succeeds(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2];
	struct lab_mm *mm = lab_group(test, lab, t, 2);
	struct lab_task *init;

	lab_switch(lab, 0, t[0]);
	lab_switch(lab, 1, t[1]);
	lab_exec_before(lab, 1);
	KUNIT_ASSERT_TRUE(test, lab_exec_mmap(lab, 1));
	KUNIT_EXPECT_PTR_NE(test, t[1]->mm, mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t[1]->mm->cm.users), 1);
	lab_exec_after(lab, 1);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, t[1]->mm->cm.gen, 0ULL);
	/* The other one is alone now, and comes back as the implicit 0. */
	lab_switch(lab, 0, NULL);
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[2].cur, 0);
	lab_expect_ok(test, lab);

	/* One that is not counted: the count of its old mm stays as it is. */
	init = lab_new_task(lab, NULL);
	cid_exec_mmap(&lab->env, 2, &mm->cm, &lab_new_mm(lab)->cm, &init->t);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
	KUNIT_EXPECT_EQ(test, init->t.active, (unsigned int)CID_EXEC);

	/* A task without mm (the first program): not counted before. */
	init = lab_new_task(lab, NULL);
	cid_exec_before(&lab->env, &lab->cache[0], 0, NULL, &init->t, 0);
	KUNIT_EXPECT_EQ(test, init->t.active, (unsigned int)CID_INACTIVE);
	KUNIT_EXPECT_FALSE(test, cid_exec_after(&lab->env, &lab->cache[0], 0,
						NULL, &init->t, 0));
	KUNIT_EXPECT_EQ(test, init->t.cid, CID_NONE);
	init->mm = lab_new_mm(lab);
	lab->cpu[0].curr = init;
	init->cpu = 0;
	cid_exec_mmap(&lab->env, 0, NULL, &init->mm->cm, &init->t);
	lab_exec_after(lab, 0);
	KUNIT_EXPECT_EQ(test, init->t.cid, 0);
	KUNIT_EXPECT_EQ(test, init->t.active, (unsigned int)CID_ACTIVE);
	KUNIT_EXPECT_EQ(test, atomic_read(&init->mm->cm.users), 1);
	lab_expect_ok(test, lab);
}

/* T1 exits on CPU 0; between its two steps T2 is switched in on CPU 1. */
static void hook_exit_order(struct lab *lab, int cpu, enum cid_point point,
			    const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 0 && (int)point == lab->arg_cpu && lab_once(lab))
		lab_switch(lab, 1, lab->arg_task);
}

static void exit_order(struct kunit *test)
{
	static const enum cid_point at[] = { CID_AT_PARK, CID_AT_LEAVE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
		struct lab_task *t[2];
		struct lab_mm *mm = lab_group(test, lab, t, 2);

		lab_switch(lab, 0, t[0]);
		KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
		lab_evict(lab, 1);
		lab->arg_cpu = at[i];
		lab->arg_task = t[1];
		lab->hook = hook_exit_order;
		lab_exit(lab, 0);
		KUNIT_EXPECT_EQ(test, lab->hits, 1);
		lab_expect_ok(test, lab);
		KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
		kunit_kfree(test, lab);
	}
}

static void inactive_tasks(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2], *worker, *child;
	struct lab_mm *mm = lab_group(test, lab, t, 2);
	u64 before[CID_CACHE_WORDS];

	/* A worker has the mm but is not counted and gets no id. */
	worker = lab_new_task(lab, mm);
	memcpy(before, lab->cache[2].word, sizeof(before));
	lab_switch(lab, 2, worker);
	KUNIT_EXPECT_EQ(test, worker->t.cid, CID_NONE);
	KUNIT_EXPECT_EQ(test, memcmp(before, lab->cache[2].word, sizeof(before)), 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[2].cur, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);

	/* Switched to from a thread of the same mm: the id is parked. */
	lab_switch(lab, 2, NULL);
	lab_switch(lab, 0, t[0]);
	lab_switch(lab, 0, worker);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[0].cur, 0);
	KUNIT_EXPECT_EQ(test, cid_word_state(lab->cache[0].word[0]), CID_PARKED);

	/* A clone by a task without an id is a mistake; the child gets none. */
	child = lab_new_task(lab, mm);
	cid_clone(&lab->env, &lab->cache[0], 0, &mm->cm, &worker->t, &child->t, 0);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_INACTIVE);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);

	/* It may call execve as it likes. */
	cid_exec_before(&lab->env, &lab->cache[0], 0, &mm->cm, &worker->t, 0);
	KUNIT_EXPECT_EQ(test, worker->t.active, (unsigned int)CID_INACTIVE);
	KUNIT_EXPECT_FALSE(test, cid_exec_after(&lab->env, &lab->cache[0], 0, &mm->cm,
						&worker->t, 0));
	KUNIT_EXPECT_EQ(test, worker->t.active, (unsigned int)CID_INACTIVE);
	KUNIT_EXPECT_EQ(test, worker->t.cid, CID_NONE);

	/* Nor does the end of a worker count. */
	cid_exit(&lab->env, &lab->cache[0], 0, &mm->cm, &worker->t, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);

	/* After exit a task is switched out and in once more or twice. */
	lab_switch(lab, 0, t[0]);
	lab_begin(lab, 0, NULL);
	cid_exit(&lab->env, &lab->cache[0], 0, &mm->cm, &t[0]->t, 0);
	lab_end(lab, 0);
	lab_switch(lab, 0, NULL);
	lab_switch(lab, 1, t[0]);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[1].cur, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
	lab_expect_ok(test, lab);
}

static void hook_evict_in_resume(struct lab *lab, int cpu, enum cid_point point,
				 const struct cid_search *s, u64 a, u64 b)
{
	if (point == CID_AT_RESUME)
		lab_evict(lab, cpu);
}

/* cid_clone_here() does all of it or nothing. */
static void clone_here(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3], *child = lab_new_task(lab, NULL), *parent;
	struct cid_cache *cc = &lab->cache[0];
	struct lab_mm *mm;

	/* Without a generation nobody may be added. */
	parent = lab_fork(lab);
	lab_switch(lab, 0, parent);
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &parent->mm->cm,
						&parent->t, &child->t));
	/* A first clone has no word that it could resume. */
	lab_multi(lab, parent->mm);
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &parent->mm->cm,
						&parent->t, &child->t));
	KUNIT_EXPECT_EQ(test, atomic_read(&parent->mm->cm.users), 1);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_INACTIVE);
	lab_switch(lab, 0, NULL);
	mm = lab_group(test, lab, t, 2);

	/* Beside others: the parent has its word. */
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_TRUE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
					       &child->t));
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 3);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_ACTIVE);
	KUNIT_EXPECT_EQ(test, cc->stats.materialised, 1ULL);
	cid_leave(&lab->env, 0, &mm->cm);
	cid_task_init(&child->t);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_INACTIVE);

	/* By a task that does not take part: not even a word is touched. */
	t[0]->t.active = CID_EXEC;
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
						&child->t));
	t[0]->t.active = CID_ACTIVE;
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	lab_switch(lab, 0, NULL);

	/* Alone again, and its word of then is here: it comes back to life. */
	lab_switch(lab, 1, t[1]);
	lab_exit(lab, 1);
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, (int)cc->cur, 0);
	KUNIT_EXPECT_TRUE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
					       &child->t));
	KUNIT_EXPECT_NE(test, (int)cc->cur, 0);
	KUNIT_EXPECT_EQ(test, cc->word[cc->cur - 1], cid_word(mm->cm.gen, 0, CID_RUNNING));
	KUNIT_EXPECT_EQ(test, cc->stats.materialised, 2ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	lab_expect_ok(test, lab);

	/* It is gone just when it is to be resumed: nothing was done. */
	cid_leave(&lab->env, 0, &mm->cm);
	cid_task_init(&child->t);
	cc->word[cc->cur - 1] ^= CID_RUNNING ^ CID_PARKED;
	cc->cur = 0;
	lab->hook = hook_evict_in_resume;
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
						&child->t));
	lab->hook = NULL;
	KUNIT_EXPECT_EQ(test, cc->stats.lost_resumes, 1ULL);
	KUNIT_EXPECT_EQ(test, cc->stats.materialised, 2ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 1);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_INACTIVE);
	atomic_inc(&mm->cm.users);

	/* A parked word of another id is not the implicit 0. */
	cid_leave(&lab->env, 0, &mm->cm);
	cc->word[0] = cid_word(mm->cm.gen, 1, CID_PARKED);
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
						&child->t));
	KUNIT_EXPECT_EQ(test, cc->stats.lost_resumes, 1ULL);
	/* Nor is there one beside other users. */
	cc->word[0] = cid_word(mm->cm.gen, 0, CID_PARKED);
	atomic_set(&mm->cm.users, 2);
	KUNIT_EXPECT_FALSE(test, cid_clone_here(&lab->env, cc, 0, &mm->cm, &t[0]->t,
						&child->t));
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	KUNIT_EXPECT_EQ(test, (int)cc->cur, 0);
}

/* An implicit 0 that is not alone: a warning, and ids stay unique. */
static void clone_beside_others(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct cid_cache *cc = &lab->cache[0];
	struct lab_task *t[2], *child = lab_new_task(lab, NULL), *parent;
	struct lab_mm *mm;
	unsigned long flags;

	/* More than one are counted, and this one has no word. */
	parent = lab_fork(lab);
	lab_switch(lab, 0, parent);
	lab_multi(lab, parent->mm);
	mm = parent->mm;
	atomic_set(&mm->cm.users, 2);
	local_irq_save(flags);
	cid_clone(&lab->env, cc, 0, &mm->cm, &parent->t, &child->t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	KUNIT_EXPECT_EQ(test, cc->word[cc->cur - 1], cid_word(mm->cm.gen, 0, CID_RUNNING));
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 3);
	KUNIT_EXPECT_EQ(test, cc->stats.materialised, 1ULL);
	KUNIT_EXPECT_EQ(test, cc->stats.slow, 0ULL);

	/* One is counted, and yet somebody has id 0. */
	memset(cc, 0, sizeof(*cc));
	lab->cpu[0].curr = NULL;
	lab->env.warned = false;
	mm = lab_group(test, lab, t, 2);
	atomic_set(&mm->cm.users, 1);
	lab->cache[1].word[0] = cid_word(mm->cm.gen, 0, CID_RUNNING);
	mm->owner[0] = cid_owner_next(mm->owner[0], 1);
	memset(cc, 0, sizeof(*cc));
	local_irq_save(flags);
	cid_clone(&lab->env, cc, 0, &mm->cm, &t[0]->t, &child->t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	KUNIT_EXPECT_EQ(test, cc->stats.slow, 1ULL);
	KUNIT_ASSERT_NE(test, (int)cc->cur, 0);
	KUNIT_EXPECT_NE(test, cid_word_cid(cc->word[cc->cur - 1]), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
}

/* ---- progress ---- */

/*
 * The adversary keeps every id the scanner looks at in use: a thread whose id
 * was looked at already moves to the spare CPU and takes the free one.  It is
 * held back by the gate only.
 */
static void hook_adversary(struct lab *lab, int cpu, enum cid_point point,
			   const struct cid_search *s, u64 a, u64 b)
{
	int scanner = lab->env.nr_cpus - 1;
	struct lab_task *victim = NULL;
	int spare = -1, from = -1, i;

	if (cpu != scanner || point != CID_AT_OWNER || lab->hooking)
		return;
	if (cid_gate_closed(READ_ONCE(s->mm->episode)))
		return;
	for (i = 0; i < scanner; i++) {
		struct lab_task *t = lab->cpu[i].curr;

		if (!t)
			spare = i;
		else if (t->t.cid == (int)s->k)
			return;
		else if (!victim || t->t.cid < victim->t.cid)
			victim = t;
	}
	if (!victim || spare < 0)
		return;
	lab->hooking = true;
	lab->hits++;
	from = victim->cpu;
	lab_switch(lab, from, NULL);
	lab_evict(lab, from);
	lab_evict(lab, spare);
	victim->t.cid = s->k;
	lab_switch(lab, spare, victim);
	lab->hooking = false;
}

static void adversary_case(struct kunit *test, unsigned int bound)
{
	struct lab *lab = lab_new(test, bound + 1, CID_KEEP_FOREVER);
	struct lab_task *t[LAB_CPUS];
	struct cid_stats st;
	unsigned int i;

	lab_group(test, lab, t, bound);
	for (i = 0; i < bound; i++)
		lab_evict(lab, i);
	for (i = 0; i + 1 < bound; i++) {
		t[i]->t.cid = i;
		lab_switch(lab, i, t[i]);
	}
	t[bound - 1]->t.cid = CID_NONE;
	lab->max_probes = 0;
	lab->hook = hook_adversary;
	lab_switch(lab, bound, t[bound - 1]);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_GE(test, lab->hits, 1);
	st = lab_stats(lab);
	KUNIT_EXPECT_EQ(test, lab->cache[bound].stats.slow, 1ULL);
	KUNIT_EXPECT_EQ(test, st.slow_again, 0ULL);
	KUNIT_EXPECT_EQ(test, st.exceeded, 0ULL);
	KUNIT_EXPECT_FALSE(test, lab->env.warned);
	/* Never the same episode twice: who waits for its end waits for one. */
	KUNIT_EXPECT_EQ(test, t[0]->mm->cm.episode, 2U);
	/* One pass without lock, those that were young, one with lock. */
	KUNIT_EXPECT_LE(test, lab->max_probes, 3 * bound);
	kunit_kfree(test, lab);
}

static void adversary(struct kunit *test)
{
	unsigned int bound;

	for (bound = 2; bound <= 8; bound++)
		adversary_case(test, bound);
}

/*
 * CPU 3 has looked at ids 0 and 1 when the thread with id 1 moves from CPU 1 to
 * CPU 2 and takes id 2.  So the search fails, and the locked pass finds id 1
 * parked at CPU 1; just when it is to be stolen, CPU 1 evicts it.
 */
static void hook_locked_evict(struct lab *lab, int cpu, enum cid_point point,
			      const struct cid_search *s, u64 a, u64 b)
{
	if (cpu != 3)
		return;
	if (point == CID_AT_OWNER && s->k == 2 && lab_once(lab)) {
		lab_switch(lab, 1, NULL);
		lab->arg_task->t.cid = 2;
		lab_switch(lab, 2, lab->arg_task);
	}
	if (point == CID_AT_STEAL && s->pass == CID_PASS_LOCKED) {
		lab->hits++;
		lab_evict(lab, 1);
	}
}

static void evict_in_locked_steal(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_evict(lab, 2);
	lab_switch(lab, 0, t[0]);
	lab_switch(lab, 1, t[1]);
	t[2]->t.cid = CID_NONE;
	lab->arg_task = t[1];
	lab->hook = hook_locked_evict;
	lab_switch(lab, 3, t[2]);
	KUNIT_EXPECT_EQ(test, lab->hits, 2);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.slow, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.slow_again, 0ULL);
	KUNIT_EXPECT_FALSE(test, lab->env.warned);
}

/* A new episode begins as soon as the old one ends. */
static void hook_gate(struct lab *lab, int cpu, enum cid_point point,
		      const struct cid_search *s, u64 a, u64 b)
{
	if (point == CID_AT_GATE_WAIT && ++lab->hits == 5)
		lab->arg_task->mm->cm.episode += 2;
}

static void gate_waits_once(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[2];
	struct lab_mm *mm = lab_group(test, lab, t, 2);

	mm->cm.episode = 1;
	lab->arg_task = t[0];
	lab->hook = hook_gate;
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_EQ(test, lab->hits, 5);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.gate_waits, 1ULL);
	lab_expect_ok(test, lab);
	mm->cm.episode++;
	/* A hand over needs no gate. */
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.gate_waits, 1ULL);
	lab_expect_ok(test, lab);
}

/* ---- the bound ---- */

static void hand_over(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
	struct lab_task *t[4];
	struct lab_mm *mm = lab_group(test, lab, t, 4);
	u64 word;

	lab_switch(lab, 2, t[0]);
	word = lab->cache[2].word[0];
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 2);
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, lab->cache[2].word[0], word);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.hand_over, 1ULL);

	/* Two leave: the id is beyond the bound and must not be passed on. */
	lab_switch(lab, 0, t[2]);
	lab_exit(lab, 0);
	lab_switch(lab, 0, t[3]);
	lab_exit(lab, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	lab_expect_ok(test, lab);
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_LT(test, t[0]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.bound_drops, 1ULL);
	lab_expect_ok(test, lab);
}

static void own_beyond_bound(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
	struct lab_task *t[4];
	int i;

	lab_group(test, lab, t, 4);
	for (i = 2; i < 4; i++) {
		lab_switch(lab, i, t[i]);
		lab_exit(lab, i);
	}
	/* Words 2 and 3 are still parked at CPUs 2 and 3. */
	lab_switch(lab, 2, t[0]);
	KUNIT_EXPECT_LT(test, t[0]->t.cid, 2);
	lab_switch(lab, 3, t[1]);
	KUNIT_EXPECT_LT(test, t[1]->t.cid, 2);
	lab_expect_ok(test, lab);
}

/* Users and allowed CPUs change during a search. */
static void hook_bound(struct lab *lab, int cpu, enum cid_point point,
		       const struct cid_search *s, u64 a, u64 b)
{
	if (cpu != 3 || point != CID_AT_OWNER || !lab_once(lab))
		return;
	if (lab->arg_cpu) {
		lab_clone(lab, 0);
		lab_clone(lab, 0);
	} else {
		lab_exit(lab, 0);
		lab_exit(lab, 1);
	}
}

static void bound_changes(struct kunit *test)
{
	int grow;

	for (grow = 0; grow < 2; grow++) {
		struct lab *lab = lab_new(test, 6, CID_KEEP_FOREVER);
		struct lab_task *t[4];

		lab_group(test, lab, t, 4);
		lab_switch(lab, 0, t[0]);
		lab_switch(lab, 1, t[1]);
		lab_evict(lab, 3);
		t[3]->t.cid = CID_NONE;
		lab->arg_cpu = grow;
		lab->hook = hook_bound;
		lab_switch(lab, 3, t[3]);
		KUNIT_EXPECT_EQ(test, lab->hits, 1);
		lab_expect_ok(test, lab);
		/* The next switch goes by the new bound. */
		lab->hook = NULL;
		lab_switch(lab, 3, t[2]);
		KUNIT_EXPECT_LT(test, t[2]->t.cid, grow ? 6 : 2);
		lab_expect_ok(test, lab);
		kunit_kfree(test, lab);
	}
}

/* Who sees the CPU that was added also sees a bound that counts it. */
static void step_allowed(struct cid_env *env, int cpu, enum cid_point point,
			 const struct cid_search *s, u64 a, u64 b)
{
	struct kunit *test = env->priv;
	struct cid_mm *mm = test->priv;
	unsigned int weight = hweight_long(READ_ONCE(mm->allowed[0])) +
			      hweight_long(READ_ONCE(mm->allowed[1]));

	KUNIT_EXPECT_EQ(test, point, CID_AT_ALLOWED);
	KUNIT_EXPECT_LE(test, weight, READ_ONCE(mm->nr_allowed));
}

static void allowed_cpus(struct kunit *test)
{
	/* CPUs 0, 2, 5, 70 are possible. */
	unsigned long possible[2] = { BIT_MASK(0) | BIT_MASK(2) | BIT_MASK(5), BIT_MASK(6) };
	unsigned long all[2] = { ~0UL, ~0UL }, mask[2] = { BIT_MASK(2), 0 };
	unsigned long storage[2] = { 0, 0 };
	struct cid_env env = { .step = step_allowed, .priv = test };
	struct cid_mm mm;

	test->priv = &mm;
	cid_mm_init(&mm, storage);
	allow_only(&mm, mask, possible, 128, -1);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 1U);
	/* the mask of init has CPUs that cannot exist */
	allow_only(&mm, all, possible, 128, -1);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 4U);

	/* migrate_disable(): the CPU is not in the mask */
	allow_only(&mm, mask, possible, 128, 70);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 2U);
	allow_only(&mm, mask, possible, 128, 0);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 2U);
	KUNIT_EXPECT_EQ(test, storage[0], BIT_MASK(0) | BIT_MASK(2));
	allow_only(&mm, mask, possible, 128, 70);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 2U);
	/* no users at this moment, and still it counts */
	KUNIT_EXPECT_EQ(test, atomic_read(&mm.users), 0);
	mask[0] = BIT_MASK(5) | BIT_MASK(6);
	KUNIT_EXPECT_TRUE(test, allow(&env, 0, &mm, mask, possible, 128));
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 3U);
	KUNIT_EXPECT_FALSE(test, allow(&env, 0, &mm, mask, possible, 128));
	/* grows only */
	mask[0] = BIT_MASK(2);
	KUNIT_EXPECT_FALSE(test, allow(&env, 0, &mm, mask, possible, 128));
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 3U);
	KUNIT_EXPECT_EQ(test, storage[0], BIT_MASK(2) | BIT_MASK(5));
	KUNIT_EXPECT_EQ(test, storage[1], BIT_MASK(6));

	/* Something new in the last word only, and beside what is not possible. */
	allow_only(&mm, mask, possible, 128, -1);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 1U);
	mask[1] = BIT_MASK(6) | BIT_MASK(7);
	KUNIT_EXPECT_TRUE(test, allow(&env, 0, &mm, mask, possible, 128));
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 2U);
	KUNIT_EXPECT_EQ(test, storage[1], BIT_MASK(6));
	/* In a kernel that has no use for the point in between. */
	env.step = NULL;
	mask[0] = BIT_MASK(0);
	KUNIT_EXPECT_TRUE(test, allow(&env, 0, &mm, mask, possible, 128));
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 3U);
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm.aff_lock));
}

/* The accounting is wrong on purpose: bound broken, uniqueness kept. */
static void forced_bound(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
	struct lab_task *t[4];
	struct lab_mm *mm = lab_group(test, lab, t, 4);
	unsigned int seen = 0;
	struct cid_stats st;
	unsigned long flags;
	int i;

	WRITE_ONCE(mm->cm.nr_allowed, 1);
	mm->allowed[0] = BIT_MASK(0);
	for (i = 0; i < 4; i++)
		lab_evict(lab, i);
	for (i = 0; i < 4; i++) {
		t[i]->t.cid = CID_NONE;
		local_irq_save(flags);
		cid_switch(&lab->env, &lab->cache[i], i, &mm->cm, &t[i]->t, 0);
		local_irq_restore(flags);
		KUNIT_ASSERT_GE(test, t[i]->t.cid, 0);
		KUNIT_ASSERT_LT(test, t[i]->t.cid, 4);
		KUNIT_EXPECT_NE(test, (int)lab->cache[i].cur, 0);
		seen |= 1U << t[i]->t.cid;
	}
	KUNIT_EXPECT_EQ(test, seen, 0xfU);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	st = lab_stats(lab);
	/* The first one got an id below the bound, the others had to break it. */
	KUNIT_EXPECT_EQ(test, st.exceeded, 3ULL);
	KUNIT_EXPECT_EQ(test, st.slow, 3ULL);
	KUNIT_EXPECT_EQ(test, st.slow_again, 3ULL);
	/* Each CPU that had to break it is allowed now. */
	KUNIT_EXPECT_EQ(test, mm->cm.nr_allowed, 4U);
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm->cm.lock));
	KUNIT_EXPECT_EQ(test, mm->cm.episode & 1, 0U);

	/* Not one CPU is allowed: the lowest id of all. */
	for (i = 0; i < 4; i++)
		cid_cache_online(&lab->cache[i]);
	WRITE_ONCE(mm->cm.nr_allowed, 0);
	mm->allowed[0] = 0;
	local_irq_save(flags);
	cid_switch(&lab->env, &lab->cache[3], 3, &mm->cm, &t[3]->t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, t[3]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, mm->cm.nr_allowed, 1U);
	KUNIT_EXPECT_EQ(test, mm->allowed[0], BIT_MASK(3));

	/* Users without a generation: id 0, a warning, no crash. */
	WRITE_ONCE(lab->env.warned, false);
	memset(&lab->cache[0].stats, 0, sizeof(st));
	t[0] = lab_fork(lab);
	atomic_set(&t[0]->mm->cm.users, 2);
	lab_switch(lab, 0, NULL);
	local_irq_save(flags);
	cid_switch(&lab->env, &lab->cache[0], 0, &t[0]->mm->cm, &t[0]->t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[0].cur, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.exceeded, 1ULL);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
}

/* CPU 2 has seen that id 0 is in use; then a third thread comes and takes id 1. */
static void hook_newcomer(struct lab *lab, int cpu, enum cid_point point,
			  const struct cid_search *s, u64 a, u64 b)
{
	struct lab_task *t;

	if (cpu != 2 || point != CID_AT_OWNER || s->k != 1 || !lab_once(lab))
		return;
	t = lab_clone(lab, 0);
	t->t.cid = 1;
	lab_switch(lab, 1, t);
	if (t->t.cid != 1)
		lab_fail(lab, "the newcomer has another id than it was to take");
}

/* The locked pass goes by the bound of now, not by that of the search before it. */
static void rebound(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct cid_stats *st = &lab->cache[2].stats;
	struct lab_task *t[2];

	lab_group(test, lab, t, 2);
	lab_switch(lab, 0, t[0]);
	lab_evict(lab, 1);
	t[1]->t.cid = CID_NONE;
	lab->hook = hook_newcomer;
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, st->slow, 1ULL);
	KUNIT_EXPECT_EQ(test, st->slow_again, 0ULL);
	KUNIT_EXPECT_EQ(test, st->exceeded, 0ULL);
	KUNIT_EXPECT_FALSE(test, lab->env.warned);
	lab_expect_ok(test, lab);
}

/* More CPUs than ids, which cannot be: a task keeps what it has, and is told once. */
static void no_id_at_all(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct cid_stats *st = &lab->cache[2].stats;
	struct lab_task *t[3];
	struct lab_mm *mm = lab_group(test, lab, t, 3);
	unsigned long flags;
	bool told;
	int had;

	lab_evict(lab, 2);
	lab_switch(lab, 0, t[0]);
	lab_switch(lab, 1, t[1]);
	lab->env.nr_ids = 2;
	memset(st, 0, sizeof(*st));
	for (had = CID_NONE; had < 2; had++) {
		t[2]->t.cid = had;
		WRITE_ONCE(lab->env.warned, false);
		local_irq_save(flags);
		told = cid_switch(&lab->env, &lab->cache[2], 2, &mm->cm, &t[2]->t, 0);
		local_irq_restore(flags);
		KUNIT_EXPECT_EQ(test, told, had == CID_NONE);
		KUNIT_EXPECT_EQ(test, t[2]->t.cid, max(had, 0));
		KUNIT_EXPECT_EQ(test, (int)lab->cache[2].cur, 0);
		KUNIT_EXPECT_TRUE(test, lab->env.warned);
		KUNIT_EXPECT_EQ(test, st->exceeded, (u64)had + 2);
		KUNIT_EXPECT_EQ(test, st->slow, (u64)had + 2);
		KUNIT_EXPECT_EQ(test, st->slow_again, (u64)had + 2);
	}
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm->cm.lock));
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm->cm.aff_lock));
	KUNIT_EXPECT_EQ(test, mm->cm.episode & 1, 0U);
}

/* What is dropped beyond the bound is gone before the next id is looked for. */
static void dropped_is_gone(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 2);
	lab_switch(lab, 0, t[0]);
	lab_exit(lab, 0);
	lab_switch(lab, 2, t[1]);
	KUNIT_EXPECT_LT(test, t[1]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, lab->cache[2].stats.bound_drops, 1ULL);
	lab_expect_ok(test, lab);
}

/* A clone although users is wrong: the parent's id stays its own all the same. */
static void clone_with_wrong_users(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3], *child;
	struct lab_mm *mm = lab_group(test, lab, t, 3);
	struct cid_cache *cc;
	int cpu;

	/* Too few: this one thinks that it is alone, and id 0 is in use. */
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 0);
	lab_evict(lab, 1);
	lab_begin(lab, 1, mm);
	atomic_set(&mm->cm.users, 1);
	cid_switch(&lab->env, &lab->cache[1], 1, &mm->cm, &t[1]->t, 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[1].cur, 0);
	child = lab_new_task(lab, mm);
	cid_clone(&lab->env, &lab->cache[1], 1, &mm->cm, &t[1]->t, &child->t, 0);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	/* Its word is another one than that which is in use. */
	KUNIT_ASSERT_NE(test, (int)lab->cache[1].cur, 0);
	KUNIT_EXPECT_NE(test, cid_word_cid(lab->cache[1].word[lab->cache[1].cur - 1]), 0U);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_ACTIVE);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	local_irq_restore(lab->cpu[1].flags);

	/* Too many: an implicit id 0 that others might have as well; parked at CPU 0. */
	for (cpu = 0; cpu < 3; cpu += 2) {
		lab = lab_new(test, 3, CID_KEEP_FOREVER);
		mm = lab_group(test, lab, t, 2);
		lab_switch(lab, 1, t[1]);
		lab_exit(lab, 1);
		lab_switch(lab, cpu, t[0]);
		cc = &lab->cache[cpu];
		KUNIT_EXPECT_EQ(test, (int)cc->cur, 0);
		lab_begin(lab, cpu, mm);
		atomic_set(&mm->cm.users, 2);
		child = lab_new_task(lab, mm);
		cid_clone(&lab->env, cc, cpu, &mm->cm, &t[0]->t, &child->t, 0);
		KUNIT_EXPECT_TRUE(test, lab->env.warned);
		KUNIT_ASSERT_NE(test, (int)cc->cur, 0);
		KUNIT_EXPECT_EQ(test, cid_word_cid(cc->word[cc->cur - 1]), 0U);
		lab_end(lab, cpu);
		lab_expect_ok(test, lab);
	}

	/* An active task in an mm without a generation can have no sibling. */
	lab = lab_new(test, 2, CID_KEEP_FOREVER);
	t[0] = lab_fork(lab);
	lab_switch(lab, 0, t[0]);
	child = lab_new_task(lab, t[0]->mm);
	lab_begin(lab, 0, t[0]->mm);
	cid_clone(&lab->env, &lab->cache[0], 0, &t[0]->mm->cm, &t[0]->t, &child->t, 0);
	lab_end(lab, 0);
	KUNIT_EXPECT_TRUE(test, lab->env.warned);
	KUNIT_EXPECT_EQ(test, child->t.active, (unsigned int)CID_INACTIVE);
	KUNIT_EXPECT_EQ(test, atomic_read(&t[0]->mm->cm.users), 1);
	lab_expect_ok(test, lab);
}

/* The parked 0 is stolen just before the clone would resume it. */
static void hook_steal_in_clone(struct lab *lab, int cpu, enum cid_point point,
				const struct cid_search *s, u64 a, u64 b)
{
	if (cpu == 0 && point == CID_AT_RESUME && lab_once(lab))
		lab_evict(lab, 0);
}

static void steal_in_clone(struct kunit *test)
{
	struct lab *lab = lab_new(test, 2, CID_KEEP_FOREVER);
	struct lab_task *t[2];

	lab_group(test, lab, t, 2);
	lab_switch(lab, 1, t[1]);
	lab_exit(lab, 1);
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[0].cur, 0);
	lab->hook = hook_steal_in_clone;
	t[1] = lab_clone(lab, 0);
	KUNIT_EXPECT_EQ(test, lab->hits, 1);
	KUNIT_ASSERT_NE(test, (int)lab->cache[0].cur, 0);
	KUNIT_EXPECT_EQ(test, cid_word_cid(lab->cache[0].word[lab->cache[0].cur - 1]), 0U);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.lost_resumes, 1ULL);
	/* This clone, and the one that made the group. */
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.materialised, 2ULL);
	KUNIT_EXPECT_FALSE(test, lab->env.warned);
	lab_expect_ok(test, lab);
}

/* Tasks that do not take part go through execve as if it did not concern them. */
static void exec_of_an_inactive_task(struct kunit *test)
{
	struct lab *lab = lab_new(test, 2, CID_KEEP_FOREVER);
	struct lab_task *t[2], *worker;
	struct lab_mm *mm = lab_group(test, lab, t, 2);

	worker = lab_new_task(lab, mm);
	lab_switch(lab, 0, worker);
	lab_exec_before(lab, 0);
	KUNIT_EXPECT_EQ(test, worker->t.active, (unsigned int)CID_INACTIVE);
	lab_begin(lab, 0, NULL);
	KUNIT_EXPECT_FALSE(test, cid_exec_after(&lab->env, &lab->cache[0], 0, &mm->cm,
						&worker->t, 0));
	lab_end(lab, 0);
	KUNIT_EXPECT_EQ(test, worker->t.cid, CID_NONE);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	/* Was not counted in the old mm, so does not leave it. */
	KUNIT_ASSERT_TRUE(test, lab_exec_mmap(lab, 0));
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->cm.users), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&worker->mm->cm.users), 1);
	lab_exec_after(lab, 0);
	KUNIT_EXPECT_EQ(test, worker->t.active, (unsigned int)CID_ACTIVE);
	KUNIT_EXPECT_EQ(test, worker->t.cid, 0);
	lab_expect_ok(test, lab);
}

static void highest_id(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
	struct lab_task *t[2];
	struct lab_mm *mm;

	t[0] = lab_fork(lab);
	mm = t[0]->mm;
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), 0);
	atomic_set(&mm->cm.users, 0);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), -1);
	mm->live = false;

	/* Ids 2 and 3 were never used, 1 is parked, 0 runs. */
	mm = lab_group(test, lab, t, 2);
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), 1);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), 0);
	/* Id 1 is in no cache any more, though its owner word names one. */
	lab_evict(lab, 1);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), 0);
	lab_switch(lab, 0, NULL);
	lab_evict(lab, 0);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), -1);
	lab_expect_ok(test, lab);
}

/* ---- policy ---- */

static void keep_is_kept(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, 100);
	struct lab_task *t[4];

	/* Parked at 0..3 at the time 1000. */
	lab_group(test, lab, t, 4);
	lab_switch(lab, 3, t[0]);
	KUNIT_EXPECT_EQ(test, t[0]->t.cid, 3);
	lab_switch(lab, 3, NULL);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.hit, 1ULL);

	/* A task without a past leaves young ids alone while others are free. */
	lab_evict(lab, 2);
	lab_evict(lab, 3);
	t[1]->t.cid = CID_NONE;
	lab_switch(lab, 3, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 3);
	lab_evict(lab, 3);
	t[2]->t.cid = CID_NONE;
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, lab_stats(lab).stolen, 0ULL);
	lab_switch(lab, 2, NULL);
	lab_switch(lab, 3, NULL);

	/* Time goes by: now the CPU itself looks for a lower one. */
	lab->now = 1100;
	lab_switch(lab, 3, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.compacted, 1ULL);
	lab_expect_ok(test, lab);
	/* Its old word is gone, one word per generation. */
	KUNIT_EXPECT_LT(test, cid_find(&lab->cache[3], t[1]->mm->cm.gen), CID_CACHE_WORDS);
	lab_expect_ok(test, lab);
}

static void last_id_is_taken_along(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, 100);
	struct lab_task *t[4];

	lab_group(test, lab, t, 4);
	lab_evict(lab, 3);
	/* From CPU 1 to CPU 3, which has nothing of its own. */
	lab_switch(lab, 1, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
	lab_switch(lab, 1, NULL);
	lab_switch(lab, 3, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.last_id, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[3].stats.probes[0], 1ULL);
	lab_switch(lab, 3, NULL);
	/* Expired: a lower one that nobody uses is better. */
	lab->now += 100;
	lab_evict(lab, 1);
	lab_switch(lab, 1, t[1]);
	KUNIT_EXPECT_EQ(test, t[1]->t.cid, 0);
	KUNIT_EXPECT_EQ(test, lab->cache[1].stats.compacted, 1ULL);
	lab_expect_ok(test, lab);
}

static void own_former_id(struct kunit *test)
{
	int cpu;

	for (cpu = 0; cpu < 4; cpu++) {
		struct lab *lab = lab_new(test, 4, 100);
		struct lab_task *t[4];

		lab_group(test, lab, t, 4);
		lab_evict(lab, cpu);
		t[0]->t.cid = CID_NONE;
		lab_switch(lab, cpu, t[0]);
		KUNIT_EXPECT_EQ(test, t[0]->t.cid, cpu);
		KUNIT_EXPECT_EQ(test, lab->cache[cpu].stats.own_id, 1ULL);
		lab_expect_ok(test, lab);
		kunit_kfree(test, lab);
	}
}

/* The own id is more worth than the one the task had last, also if it has expired. */
static void own_before_last(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, 100);
	struct cid_stats *st = &lab->cache[2].stats;
	struct lab_task *t[3];

	lab_group(test, lab, t, 3);
	lab_switch(lab, 0, t[0]);
	lab_switch(lab, 1, t[1]);
	lab->now += 100;
	t[2]->t.cid = 1;
	memset(st, 0, sizeof(*st));
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, st->hit, 1ULL);
	KUNIT_EXPECT_EQ(test, st->own_id, 0ULL);
	lab_expect_ok(test, lab);
}

/* An attempt to compact looks at no more than 16 ids. */
static void compaction_is_capped(struct kunit *test)
{
	struct lab *lab = lab_new(test, LAB_CPUS, 0);
	struct lab_task *t[LAB_CPUS];
	unsigned int i;

	lab_group(test, lab, t, LAB_CPUS);
	for (i = 0; i + 1 < LAB_CPUS; i++)
		lab_switch(lab, i, t[i]);
	for (i = 0; i + 1 < LAB_CPUS; i++)
		KUNIT_EXPECT_EQ(test, t[i]->t.cid, (int)i);
	lab->max_probes = 0;
	lab_switch(lab, LAB_CPUS - 1, t[LAB_CPUS - 1]);
	KUNIT_EXPECT_EQ(test, t[LAB_CPUS - 1]->t.cid, LAB_CPUS - 1);
	KUNIT_EXPECT_EQ(test, lab->max_probes, (unsigned int)CID_COMPACT_PROBES + 1);
	KUNIT_EXPECT_EQ(test, lab->cache[LAB_CPUS - 1].stats.hit, 1ULL);
	lab_expect_ok(test, lab);
}

/*
 * Expired, and there is no lower id: the own word is resumed where it is, in
 * whatever slot, and nothing is claimed.
 */
static void home_is_resumed(struct kunit *test)
{
	unsigned int slot;

	for (slot = 0; slot < CID_CACHE_WORDS; slot++) {
		struct lab *lab = lab_new(test, 3, 100);
		struct cid_stats *st = &lab->cache[1].stats;
		struct lab_task *t[2];
		struct lab_mm *mm;
		u64 owner;

		lab_fill(lab, 1, slot);
		mm = lab_group(test, lab, t, 2);
		KUNIT_ASSERT_EQ(test, cid_word_cid(lab->cache[1].word[slot]), 1U);
		owner = mm->owner[1];
		lab_switch(lab, 0, t[0]);
		lab->now += 100;
		memset(st, 0, sizeof(*st));
		lab_switch(lab, 1, t[1]);
		KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
		KUNIT_EXPECT_EQ(test, (unsigned int)lab->cache[1].cur, slot + 1);
		KUNIT_EXPECT_EQ(test, mm->owner[1], owner);
		KUNIT_EXPECT_EQ(test, st->hit, 1ULL);
		KUNIT_EXPECT_EQ(test, st->lost_resumes, 0ULL);
		KUNIT_EXPECT_EQ(test, st->probes[1], 1ULL);

		/* On a CPU without a word: the id the task had, expired as well. */
		lab_switch(lab, 1, NULL);
		lab->now += 100;
		memset(&lab->cache[2].stats, 0, sizeof(*st));
		lab_switch(lab, 2, t[1]);
		KUNIT_EXPECT_EQ(test, t[1]->t.cid, 1);
		KUNIT_EXPECT_EQ(test, lab->cache[2].stats.last_id, 1ULL);
		KUNIT_EXPECT_EQ(test, lab->cache[2].stats.slow, 0ULL);
		lab_expect_ok(test, lab);
		kunit_kfree(test, lab);
	}
}

/* Its own parked id a CPU gets back without looking at any owner word. */
static void resume_without_search(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, 100);
	struct lab_task *t[3];
	struct cid_stats *st = &lab->cache[2].stats;
	unsigned int i;

	lab_group(test, lab, t, 3);
	memset(st, 0, sizeof(*st));
	lab->now += 99;
	lab_switch(lab, 2, t[2]);
	KUNIT_EXPECT_EQ(test, t[2]->t.cid, 2);
	KUNIT_EXPECT_EQ(test, st->hit, 1ULL);
	for (i = 0; i < CID_PROBE_BUCKETS; i++)
		KUNIT_EXPECT_EQ(test, st->probes[i], 0ULL);

	/* Id 0 cannot be improved, however long ago that was. */
	memset(&lab->cache[0].stats, 0, sizeof(*st));
	lab->now += 1000;
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.hit, 1ULL);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.probes[0], 0ULL);
	lab_expect_ok(test, lab);
}

/* For ever is for ever, also if the other CPU's clock is ahead of this one's. */
static void kept_for_ever(struct kunit *test)
{
	static const u32 ages[] = { 0, 1, U32_MAX, 1U << 31, U32_MAX - 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ages); i++) {
		struct lab *lab = lab_new(test, 4, CID_KEEP_FOREVER);
		struct lab_task *t[4];

		lab_group(test, lab, t, 4);
		/* Id 0 is in use, 1 is parked, 2 and 3 are free, 3 was nobody's ever. */
		lab_evict(lab, 3);
		lab_evict(lab, 2);
		t[0]->mm->owner[3] = 0;
		lab_switch(lab, 0, t[0]);
		lab->now += ages[i];
		t[3]->t.cid = CID_NONE;
		lab_switch(lab, 3, t[3]);
		KUNIT_EXPECT_EQ_MSG(test, t[3]->t.cid, 2, "age %u", ages[i]);
		KUNIT_EXPECT_EQ(test, lab_stats(lab).stolen, 0ULL);
		lab_expect_ok(test, lab);
		kunit_kfree(test, lab);
	}
}

/* The histogram: how many ids a search has looked at. */
static void probes_are_counted(struct kunit *test)
{
	/* By the number of probes, from 0 on. */
	static const unsigned int bucket[] = {
		0, 0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5
	};
	unsigned int n, i;

	/* Ids 0 to n - 2 are in use: the search gets the n-th one. */
	for (n = 2; n <= LAB_CPUS; n++) {
		struct lab *lab = lab_new(test, LAB_CPUS, CID_KEEP_FOREVER);
		struct lab_task *t[LAB_CPUS];
		struct cid_stats *st = &lab->cache[n - 1].stats;

		lab_group(test, lab, t, n);
		for (i = 0; i + 1 < n; i++)
			lab_switch(lab, i, t[i]);
		lab_evict(lab, n - 1);
		t[0]->mm->owner[n - 1] = 0;
		t[n - 1]->t.cid = CID_NONE;
		memset(st, 0, sizeof(*st));
		lab_switch(lab, n - 1, t[n - 1]);
		KUNIT_EXPECT_EQ(test, t[n - 1]->t.cid, (int)n - 1);
		KUNIT_EXPECT_EQ(test, st->free_id, 1ULL);
		for (i = 0; i < CID_PROBE_BUCKETS; i++)
			KUNIT_EXPECT_EQ_MSG(test, st->probes[i], (u64)(i == bucket[n]),
					    "%u probes, bucket %u", n, i);
		lab_expect_ok(test, lab);
		kunit_kfree(test, lab);
	}
}

/* As many ids as a large machine has: the last bucket takes all that is beyond it. */
static void probes_beyond_the_last_bucket(struct kunit *test)
{
	const unsigned int n = 300;
	struct cid_cache *cache = kunit_kcalloc(test, n, sizeof(*cache), GFP_KERNEL);
	struct cid_cache **ptr = kunit_kcalloc(test, n, sizeof(*ptr), GFP_KERNEL);
	u64 *owner = kunit_kcalloc(test, n, sizeof(*owner), GFP_KERNEL);
	struct cid_env env = { .nr_cpus = n, .nr_ids = n, .keep = CID_KEEP_FOREVER };
	struct cid_task t = { .cid = CID_NONE, .active = CID_ACTIVE };
	unsigned long allowed[BITS_TO_LONGS(300)];
	struct cid_mm mm;
	unsigned long flags;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, cache && ptr && owner);
	env.cache = ptr;
	cid_mm_init(&mm, allowed);
	cid_mm_multi(&mm, owner, 1);
	atomic_set(&mm.users, n);
	WRITE_ONCE(mm.nr_allowed, n);
	for (i = 0; i < n; i++)
		ptr[i] = &cache[i];
	/* Id i is in use on CPU i + 1, the last one is free. */
	for (i = 0; i + 1 < n; i++) {
		owner[i] = cid_owner_next(0, i + 1);
		cache[i + 1].word[0] = cid_word(1, i, CID_RUNNING);
		cache[i + 1].cur = 1;
	}
	local_irq_save(flags);
	cid_switch(&env, &cache[0], 0, &mm, &t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, t.cid, (int)n - 1);
	for (i = 0; i < CID_PROBE_BUCKETS; i++)
		KUNIT_EXPECT_EQ(test, cache[0].stats.probes[i],
				(u64)(i == CID_PROBE_BUCKETS - 1));
}

static unsigned int compact_probes[LAB_CPUS];

static void hook_compact(struct lab *lab, int cpu, enum cid_point point,
			 const struct cid_search *s, u64 a, u64 b)
{
	if (point == CID_AT_OWNER && s->pass == CID_PASS_COMPACT)
		compact_probes[s->k]++;
}

/* Half of an attempt to compact goes on where the one before it has ended. */
static void compaction_goes_round(struct kunit *test)
{
	struct lab *lab = lab_new(test, LAB_CPUS, 0);
	struct lab_task *t[LAB_CPUS], *last;
	const unsigned int home = LAB_CPUS - 1, low = CID_COMPACT_PROBES / 2;
	unsigned int i, round;

	lab_group(test, lab, t, LAB_CPUS);
	last = t[home];
	for (i = 0; i < home; i++)
		lab_switch(lab, i, t[i]);
	lab->cache[home].cursor = 0;
	memset(compact_probes, 0, sizeof(compact_probes));
	lab->hook = hook_compact;
	/* Nine ids above the lowest eight, eight per attempt: after nine attempts all had eight. */
	for (round = 1; round <= home - low; round++) {
		lab_switch(lab, home, last);
		KUNIT_EXPECT_EQ(test, last->t.cid, (int)home);
		for (i = 0; i < low; i++)
			KUNIT_EXPECT_EQ(test, compact_probes[i], round);
		lab_switch(lab, home, NULL);
	}
	for (i = low; i < home; i++)
		KUNIT_EXPECT_EQ_MSG(test, compact_probes[i], CID_COMPACT_PROBES - low, "id %u", i);
	KUNIT_EXPECT_EQ(test, compact_probes[home], 0U);
	lab_expect_ok(test, lab);
}

/* 100 sleepers and two tasks that wander over 16 CPUs. */
static int wander(struct kunit *test, u32 keep, u32 pause)
{
	struct lab *lab = lab_new(test, 16, keep);
	const int n = 102;
	struct lab_task **t = kunit_kcalloc(test, n, sizeof(*t), GFP_KERNEL);
	struct lab_mm *mm;
	int i, highest = 0;

	KUNIT_ASSERT_NOT_NULL(test, t);
	mm = lab_group(test, lab, t, n);
	for (i = 16; i < n; i++) {
		lab_switch(lab, i % 16, t[i]);
		lab_switch(lab, i % 16, NULL);
	}
	prandom_seed_state(&lab->rnd, 7);
	for (i = 0; i < 4000; i++) {
		struct lab_task *w = t[i & 1];
		int to = prandom_u32_state(&lab->rnd) % 16;

		if (lab->cpu[to].curr)
			continue;
		if (w->cpu >= 0)
			lab_switch(lab, w->cpu, NULL);
		lab->now += pause;
		lab_switch(lab, to, w);
		if (i >= 2000)
			highest = max(highest, cid_highest(&lab->env, &mm->cm, true));
	}
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, lab_stats(lab).slow, 0ULL);
	kunit_kfree(test, lab);
	return highest;
}

static void packs(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wander(test, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, wander(test, 0, 10), 1);
	/* A visit lasts longer than keep: as good as packed. */
	KUNIT_EXPECT_LE(test, wander(test, 10, 30), 3);
	KUNIT_EXPECT_LE(test, wander(test, CID_KEEP_FOREVER, 10), 15);
}

/* Sticky: a CPU that gets its id back, whatever lies between. */
static void sticks(struct kunit *test)
{
	struct lab *lab = lab_new(test, 8, CID_KEEP_FOREVER);
	struct lab_task *t[8];
	int i, cpu;

	lab_group(test, lab, t, 8);
	prandom_seed_state(&lab->rnd, 3);
	for (i = 0; i < 1000; i++) {
		cpu = prandom_u32_state(&lab->rnd) % 8;
		lab->now += 200;
		lab_switch(lab, cpu, t[cpu]);
		KUNIT_ASSERT_EQ(test, t[cpu]->t.cid, cpu);
		lab_switch(lab, cpu, NULL);
	}
	KUNIT_EXPECT_EQ(test, lab_stats(lab).hit, 1000ULL);
	lab_expect_ok(test, lab);
}

/* ---- the cache itself ---- */

static void many_mms(struct kunit *test)
{
	struct lab *lab = lab_new(test, 2, CID_KEEP_FOREVER);
	struct lab_task *t[12][2];
	struct cid_stats st;
	int i, round;

	for (i = 0; i < 12; i++) {
		t[i][0] = lab_fork(lab);
		lab_switch(lab, 0, t[i][0]);
		t[i][1] = lab_clone(lab, 0);
		KUNIT_ASSERT_NOT_NULL(test, t[i][1]);
	}
	lab_switch(lab, 0, NULL);

	/* As many as fit: nothing but hits once they are in. */
	for (round = 0; round < 10; round++) {
		for (i = 0; i < CID_CACHE_WORDS; i++) {
			lab_switch(lab, 0, t[i][0]);
			lab_switch(lab, 1, t[i][1]);
		}
		if (!round)
			memset(&lab->cache[0].stats, 0, sizeof(st));
	}
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.hit, 9ULL * CID_CACHE_WORDS);
	KUNIT_EXPECT_EQ(test, lab->cache[0].stats.evicted, 0ULL);

	/* More than fit: each visit evicts, nothing that runs is touched. */
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 12; i++) {
			lab_switch(lab, 0, t[i][0]);
			KUNIT_EXPECT_NE(test, (int)lab->cache[0].cur, 0);
			lab_switch(lab, 1, t[(i + 5) % 12][1]);
		}
	}
	st = lab->cache[0].stats;
	KUNIT_EXPECT_GE(test, st.evicted, 50ULL);
	KUNIT_EXPECT_EQ(test, st.slow, 0ULL);
	lab_expect_ok(test, lab);
}

/*
 * The clock: words that were used since it came by last get a second chance,
 * in the order of the slots, and what is in use anew is found in its old slot.
 */
static void clock_spares_the_used(struct kunit *test)
{
	struct lab *lab = lab_new(test, 2, CID_KEEP_FOREVER);
	struct lab_task *t[CID_CACHE_WORDS + 4];
	struct cid_cache *cc = &lab->cache[0];
	u64 gen[CID_CACHE_WORDS + 4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		t[i] = lab_fork(lab);
		KUNIT_ASSERT_NOT_NULL(test, t[i]);
		lab_multi(lab, t[i]->mm);
		atomic_set(&t[i]->mm->cm.users, 2);
		gen[i] = t[i]->mm->cm.gen;
	}
	/* Free slots first, from the lowest. */
	for (i = 0; i < CID_CACHE_WORDS; i++) {
		lab_switch(lab, 0, t[i]);
		KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[i]), gen[i]);
	}
	lab_switch(lab, 0, NULL);
	KUNIT_EXPECT_EQ(test, cc->stats.evicted, 0ULL);

	/* All were used: one round takes the bits away, the next takes the first. */
	lab_switch(lab, 0, t[CID_CACHE_WORDS]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[0]), gen[CID_CACHE_WORDS]);
	KUNIT_EXPECT_EQ(test, cc->stats.evicted, 1ULL);
	lab_switch(lab, 0, NULL);
	/* Used again since: slots 1 and 3. So the next victims are 2 and 4. */
	lab_switch(lab, 0, t[1]);
	lab_switch(lab, 0, t[3]);
	lab_switch(lab, 0, t[CID_CACHE_WORDS + 1]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[2]), gen[CID_CACHE_WORDS + 1]);
	lab_switch(lab, 0, t[CID_CACHE_WORDS + 2]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[4]), gen[CID_CACHE_WORDS + 2]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[1]), gen[1]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[3]), gen[3]);
	KUNIT_EXPECT_EQ(test, cc->stats.evicted, 3ULL);
	/* A slot that became free comes before any victim. */
	WRITE_ONCE(cc->word[6], CID_EMPTY);
	lab_switch(lab, 0, t[CID_CACHE_WORDS + 3]);
	KUNIT_EXPECT_EQ(test, cid_word_gen(cc->word[6]), gen[CID_CACHE_WORDS + 3]);
	KUNIT_EXPECT_EQ(test, cc->stats.evicted, 3ULL);
}

/* An mm_struct is a copy of the parent's: nothing of it is taken over. */
static void mm_init_takes_nothing_over(struct kunit *test)
{
	unsigned long storage[1] = { 0 };
	struct cid_task t;
	struct cid_mm mm;

	memset(&mm, 0xa5, sizeof(mm));
	memset(&t, 0xa5, sizeof(t));
	cid_mm_init(&mm, storage);
	KUNIT_EXPECT_EQ(test, mm.gen, 0ULL);
	KUNIT_EXPECT_NULL(test, mm.owner);
	KUNIT_EXPECT_PTR_EQ(test, mm.allowed, &storage[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm.users), 0);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 0U);
	KUNIT_EXPECT_EQ(test, mm.episode, 0U);
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm.lock));
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&mm.aff_lock));
	cid_task_init(&t);
	KUNIT_EXPECT_EQ(test, t.cid, CID_NONE);
	KUNIT_EXPECT_EQ(test, t.active, (unsigned int)CID_INACTIVE);
	cid_fork(&mm, &t);
	KUNIT_EXPECT_EQ(test, t.active, (unsigned int)CID_ACTIVE);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm.users), 1);
}

/* The highest id, wherever its word is: running, or parked as well. */
static void highest_is_found(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3], *single;
	struct lab_mm *mm = lab_group(test, lab, t, 3);
	int cpu;

	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), -1);
	for (cpu = 2; cpu >= 0; cpu--) {
		KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), cpu);
		lab_switch(lab, cpu, t[0]);
		KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), cpu);
		lab_switch(lab, cpu, NULL);
		KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), -1);
		lab_evict(lab, cpu);
	}
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), -1);
	/* Id 2 in the last slot of CPU 0. */
	lab_fill(lab, 0, CID_CACHE_WORDS - 1);
	t[0]->t.cid = 2;
	lab_switch(lab, 0, t[0]);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), 2);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), 2);
	lab_expect_ok(test, lab);

	/* One user: 0 without any word, also if there never was another. */
	single = lab_fork(lab);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &single->mm->cm, true), 0);
	lab_multi(lab, single->mm);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &single->mm->cm, false), 0);
}

/* Every counter of every CPU is in the sum. */
static void stats_add_up(struct kunit *test)
{
	struct cid_stats a, b, sum;
	unsigned int i, n = sizeof(sum) / sizeof(u64);

	memset(&sum, 0, sizeof(sum));
	for (i = 0; i < n; i++) {
		((u64 *)&a)[i] = 1 + i;
		((u64 *)&b)[i] = 1000 * i;
	}
	cid_stats_add(&sum, &a);
	cid_stats_add(&sum, &b);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, ((u64 *)&sum)[i], 1ULL + 1001 * i);
}

static void cpu_comes_online(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, CID_KEEP_FOREVER);
	struct lab_task *t[3];
	struct lab_mm *mm = lab_group(test, lab, t, 3);
	int i;

	lab_fill(lab, 1, CID_CACHE_WORDS);
	lab->cache[1].cur = 3;
	lab->cache[1].used = 5;
	cid_cache_online(&lab->cache[1]);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[1].cur, 0);
	KUNIT_EXPECT_EQ(test, (int)lab->cache[1].used, 0);
	for (i = 0; i < CID_CACHE_WORDS; i++)
		KUNIT_EXPECT_EQ(test, lab->cache[1].word[i], CID_EMPTY);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, false), 2);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), -1);
	for (i = 0; i < 3; i++)
		lab_switch(lab, i, t[i]);
	KUNIT_EXPECT_EQ(test, cid_highest(&lab->env, &mm->cm, true), 2);
	lab_expect_ok(test, lab);
}

static void one_cpu(struct kunit *test)
{
	struct lab *lab = lab_new(test, 1, 0);
	struct lab_task *t[4];
	int i;

	lab_group(test, lab, t, 4);
	for (i = 0; i < 20; i++) {
		lab_switch(lab, 0, t[i % 4]);
		KUNIT_EXPECT_EQ(test, t[i % 4]->t.cid, 0);
		if (i % 3 == 0)
			lab_switch(lab, 0, NULL);
	}
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_EQ(test, lab_stats(lab).slow, 0ULL);
}

/* Possible CPUs 1, 6 and 17: three ids for CPU numbers up to 17. */
static void sparse_cpus(struct kunit *test)
{
	static const int cpus[] = { 1, 6, 17 };
	struct lab *lab = lab_new(test, LAB_CPUS, 0);
	struct lab_task *t[5];
	unsigned int seen = 0;
	int i;

	lab->env.nr_ids = 3;
	memset(lab->possible, 0, sizeof(lab->possible));
	for (i = 0; i < 3; i++)
		lab->possible[0] |= BIT_MASK(cpus[i]);
	t[0] = lab_fork(lab);
	lab_switch(lab, 1, t[0]);
	for (i = 1; i < 5; i++)
		t[i] = lab_clone(lab, 1);
	for (i = 1; i < 3; i++)
		lab_switch(lab, cpus[i], t[i]);
	for (i = 0; i < 3; i++)
		seen |= 1U << t[i]->t.cid;
	KUNIT_EXPECT_EQ(test, seen, 7U);
	lab_expect_ok(test, lab);
}

static void each_switch_counts_once(struct kunit *test)
{
	struct lab *lab = lab_new(test, 4, 20);
	struct lab_task *t[6];
	struct cid_stats st;
	u64 sum, searches = 0;
	int i, cpu;

	lab_group(test, lab, t, 6);
	for (cpu = 0; cpu < 4; cpu++)
		memset(&lab->cache[cpu].stats, 0, sizeof(st));
	prandom_seed_state(&lab->rnd, 11);
	for (i = 0; i < 3000; i++) {
		struct lab_task *n = t[prandom_u32_state(&lab->rnd) % 6];

		cpu = prandom_u32_state(&lab->rnd) % 4;
		lab->now += prandom_u32_state(&lab->rnd) % 4;
		if (n->cpu >= 0)
			lab_switch(lab, n->cpu, NULL);
		if (prandom_u32_state(&lab->rnd) % 5 == 0)
			lab_evict(lab, cpu);
		lab_switch(lab, cpu, n);
	}
	st = lab_stats(lab);
	sum = st.hand_over + st.single + st.hit + st.last_id + st.own_id +
	      st.free_id + st.stolen + st.compacted + st.slow;
	KUNIT_EXPECT_EQ(test, sum, 3000ULL);
	for (i = 0; i < CID_PROBE_BUCKETS; i++)
		searches += st.probes[i];
	KUNIT_EXPECT_LE(test, st.last_id + st.own_id + st.free_id + st.stolen +
			st.compacted + st.slow, searches);
	lab_expect_ok(test, lab);
}

/* ---- random ---- */

#define RND_STEPS	1000000UL

/* The hooks change nothing: the same operations without them end the same way. */
static void without_hooks(struct kunit *test)
{
	struct lab *lab[2], *bare;
	struct lab_task *t[3];
	unsigned int i, cpu, which;
	struct lab_mm *mm;

	for (which = 0; which < 2; which++) {
		lab[which] = lab_new(test, 4, 2);
		prandom_seed_state(&lab[which]->rnd, 3);
		if (which)
			lab[which]->env.step = NULL;
		for (i = 0; i < 20000 && !lab[which]->error; i++)
			rnd_op(lab[which], rnd(lab[which], 4));
		lab_expect_ok(test, lab[which]);
	}
	for (cpu = 0; cpu < 4; cpu++) {
		KUNIT_EXPECT_EQ(test, memcmp(&lab[0]->cache[cpu], &lab[1]->cache[cpu],
					     sizeof(struct cid_cache)), 0);
	}
	for (i = 0; i < lab[0]->nr_tasks; i++)
		KUNIT_EXPECT_EQ(test, lab[0]->task[i].t.cid, lab[1]->task[i].t.cid);
	for (i = 0; i < lab[0]->nr_mms; i++)
		KUNIT_EXPECT_EQ(test, memcmp(lab[0]->mm[i].owner, lab[1]->mm[i].owner,
					     sizeof(lab[0]->mm[i].owner)), 0);
	KUNIT_EXPECT_NE(test, lab[0]->steps, 0UL);
	KUNIT_EXPECT_EQ(test, lab[1]->steps, 0UL);

	/* The slow path, by a bound that is too small. */
	bare = lab_new(test, 3, CID_KEEP_FOREVER);
	mm = lab_group(test, bare, t, 3);
	bare->env.step = NULL;
	lab_switch(bare, 0, t[0]);
	WRITE_ONCE(mm->cm.nr_allowed, 1);
	mm->allowed[0] = BIT_MASK(0);
	lab_begin(bare, 1, mm);
	cid_switch(&bare->env, &bare->cache[1], 1, &mm->cm, &t[1]->t, 0);
	local_irq_restore(bare->cpu[1].flags);
	KUNIT_EXPECT_NE(test, t[1]->t.cid, t[0]->t.cid);
	KUNIT_EXPECT_EQ(test, bare->cache[1].stats.exceeded, 1ULL);
	/* That slow path is over: who waits for it goes on. */
	KUNIT_EXPECT_EQ(test, mm->cm.episode, 2U);
	cid_gate_wait(&bare->env, &bare->cache[2], 2, &mm->cm, 1);
	KUNIT_EXPECT_EQ(test, bare->cache[2].stats.gate_waits, 1ULL);
}

static void random_steps(struct kunit *test)
{
	struct lab *lab = lab_new(test, 3, 1);
	struct cid_stats st;
	unsigned long ops = 0;

	lab->env.expired = rnd_expired;
	prandom_seed_state(&lab->rnd, 20260203);
	lab->hook = hook_random;
	lab->max_steps = RND_STEPS;
	lab_fork(lab);
	while (!lab->error && lab->steps < RND_STEPS) {
		rnd_op(lab, rnd(lab, lab->env.nr_cpus));
		lab_oracle(lab);
		if (++ops % 4096 == 0)
			cond_resched();
	}
	st = lab_stats(lab);
	lab_expect_ok(test, lab);
	KUNIT_EXPECT_FALSE(test, lab->env.warned);
	KUNIT_EXPECT_EQ(test, st.slow_again, 0ULL);
	KUNIT_EXPECT_EQ(test, st.exceeded, 0ULL);
	/* Every path was taken. */
	KUNIT_EXPECT_GT(test, st.single, 0ULL);
	KUNIT_EXPECT_GT(test, st.hit, 0ULL);
	KUNIT_EXPECT_GT(test, st.hand_over, 0ULL);
	KUNIT_EXPECT_GT(test, st.last_id, 0ULL);
	KUNIT_EXPECT_GT(test, st.own_id, 0ULL);
	KUNIT_EXPECT_GT(test, st.free_id, 0ULL);
	KUNIT_EXPECT_GT(test, st.stolen, 0ULL);
	KUNIT_EXPECT_GT(test, st.compacted, 0ULL);
	KUNIT_EXPECT_GT(test, st.slow, 0ULL);
	KUNIT_EXPECT_GT(test, st.lost_claims, 0ULL);
	KUNIT_EXPECT_GT(test, st.lost_resumes, 0ULL);
	KUNIT_EXPECT_GT(test, st.bound_drops, 0ULL);
	KUNIT_EXPECT_GT(test, st.materialised, 0ULL);
	kunit_info(test, "%lu steps, %llu slow paths, %llu lost claims\n",
		   lab->steps, st.slow, st.lost_claims);
}

/* ---- threads ---- */

#define RACE_CPUS	6
#define RACE_LOOPS	40000

static struct completion race_done;

static int race_thread(void *data)
{
	struct race_cpu *rc = data;
	int i;

	for (i = 0; i < RACE_LOOPS && !READ_ONCE(rc->race->error); i++) {
		race_turn(rc);
		if (i % 256 == 0)
			cond_resched();
	}
	race_leave(rc);
	complete(&race_done);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void race_run(struct kunit *test, u32 keep)
{
	struct race *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct race_cpu *rc = kunit_kcalloc(test, RACE_CPUS, sizeof(*rc), GFP_KERNEL);
	struct task_struct *thread[RACE_CPUS];
	struct cid_stats st;
	const char *error;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_NOT_NULL(test, rc);
	race_setup(r, rc, RACE_CPUS, keep);
	init_completion(&race_done);
	for (i = 0; i < RACE_CPUS; i++) {
		thread[i] = kthread_run(race_thread, &rc[i], "cid_race/%d", i);
		KUNIT_EXPECT_FALSE(test, IS_ERR(thread[i]));
		if (IS_ERR(thread[i]))
			complete(&race_done);
	}
	for (i = 0; i < RACE_CPUS; i++)
		wait_for_completion(&race_done);
	for (i = 0; i < RACE_CPUS; i++) {
		if (!IS_ERR(thread[i]))
			kthread_stop(thread[i]);
	}

	error = race_judge(r, rc);
	KUNIT_EXPECT_NULL_MSG(test, error, "%s", error);
	memset(&st, 0, sizeof(st));
	for (i = 0; i < RACE_CPUS; i++)
		cid_stats_add(&st, &r->cache[i].stats);
	kunit_info(test, "keep %u: %llu hits, %llu stolen, %llu slow, %llu lost claims\n",
		   keep, st.hit, st.stolen, st.slow, st.lost_claims);
}

static void threads_pack(struct kunit *test)
{
	race_run(test, 0);
}

static void threads_keep(struct kunit *test)
{
	race_run(test, 2);
}

static void threads_stick(struct kunit *test)
{
	race_run(test, CID_KEEP_FOREVER);
}

static struct kunit_case cid_cache_cases[] = {
	KUNIT_CASE(encoding),
	KUNIT_CASE(seq_wraps_in_use),
	KUNIT_CASE(generations),
	KUNIT_CASE(own_retake),
	KUNIT_CASE(word_before_claim),
	KUNIT_CASE(steal_in_resume),
	KUNIT_CASE(resume_in_steal),
	KUNIT_CASE(evict_in_steal),
	KUNIT_CASE(young_ones_in_turn),
	KUNIT_CASE(time_of_others),
	KUNIT_CASE(bound_broken_beyond_64),
	KUNIT_CASE(stamps_are_no_words),
	KUNIT_CASE(stolen_or_free),
	KUNIT_CASE(stolen_in_vain),
	KUNIT_CASE(every_slot),
	KUNIT_CASE(new_generation),
	KUNIT_CASE(oracle_sees_reuse),
	KUNIT_CASE(single_again),
	KUNIT_CASE(exec_fails),
	KUNIT_CASE(exec_succeeds),
	KUNIT_CASE(exit_order),
	KUNIT_CASE(inactive_tasks),
	KUNIT_CASE(clone_here),
	KUNIT_CASE(clone_beside_others),
	KUNIT_CASE(adversary),
	KUNIT_CASE(evict_in_locked_steal),
	KUNIT_CASE(gate_waits_once),
	KUNIT_CASE(hand_over),
	KUNIT_CASE(own_beyond_bound),
	KUNIT_CASE(bound_changes),
	KUNIT_CASE(allowed_cpus),
	KUNIT_CASE(forced_bound),
	KUNIT_CASE(rebound),
	KUNIT_CASE(no_id_at_all),
	KUNIT_CASE(dropped_is_gone),
	KUNIT_CASE(clone_with_wrong_users),
	KUNIT_CASE(steal_in_clone),
	KUNIT_CASE(exec_of_an_inactive_task),
	KUNIT_CASE(highest_id),
	KUNIT_CASE(keep_is_kept),
	KUNIT_CASE(home_is_resumed),
	KUNIT_CASE(resume_without_search),
	KUNIT_CASE(kept_for_ever),
	KUNIT_CASE(probes_are_counted),
	KUNIT_CASE(probes_beyond_the_last_bucket),
	KUNIT_CASE(compaction_goes_round),
	KUNIT_CASE(last_id_is_taken_along),
	KUNIT_CASE(own_former_id),
	KUNIT_CASE(own_before_last),
	KUNIT_CASE(compaction_is_capped),
	KUNIT_CASE(packs),
	KUNIT_CASE(sticks),
	KUNIT_CASE(many_mms),
	KUNIT_CASE(clock_spares_the_used),
	KUNIT_CASE(mm_init_takes_nothing_over),
	KUNIT_CASE(highest_is_found),
	KUNIT_CASE(stats_add_up),
	KUNIT_CASE(cpu_comes_online),
	KUNIT_CASE(one_cpu),
	KUNIT_CASE(sparse_cpus),
	KUNIT_CASE(each_switch_counts_once),
	KUNIT_CASE(without_hooks),
	KUNIT_CASE_SLOW(random_steps),
	KUNIT_CASE_SLOW(threads_pack),
	KUNIT_CASE_SLOW(threads_keep),
	KUNIT_CASE_SLOW(threads_stick),
	{}
};

static struct kunit_suite cid_cache_suite = {
	.name		= "cid_cache",
	.test_cases	= cid_cache_cases,
};

kunit_test_suite(cid_cache_suite);

MODULE_DESCRIPTION("KUnit tests of the CID cache");
MODULE_LICENSE("GPL");
