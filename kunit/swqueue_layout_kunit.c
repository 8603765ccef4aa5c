// SPDX-License-Identifier: GPL-2.0-only
/* Shared wake queue: shards over CPU topologies. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include "../swqueue.h"

enum topo_style {
	SIBLINGS_FAR,		/* n and n + number of cores, sockets in blocks */
	SIBLINGS_NEAR,		/* n, n + 1 */
	INTERLEAVED,		/* sockets take turns, siblings far */
};

/**
 * struct topo - a machine
 * @name: for the report
 * @llcs: last-level caches
 * @cores: cores of each
 * @threads: threads of each core
 * @style: how CPUs are numbered
 * @hole: every how manieth CPU is offline, 0 for none
 */
struct topo {
	const char		*name;
	unsigned int		llcs;
	unsigned int		cores;
	unsigned int		threads;
	enum topo_style		style;
	unsigned int		hole;
};

static const struct topo topos[] = {
	{ "one CPU",				1,   1, 1, SIBLINGS_NEAR },
	{ "one core of two",			1,   1, 2, SIBLINGS_NEAR },
	{ "Skylake 18c/36t, one socket",	1,  18, 2, SIBLINGS_FAR },
	{ "Skylake 18c/36t, two sockets",	2,  18, 2, SIBLINGS_FAR },
	{ "Sapphire Rapids 56c/112t",		2,  56, 2, SIBLINGS_FAR },
	{ "Milan 8c/16t",			8,   8, 2, SIBLINGS_FAR },
	{ "Ice Lake 32c/64t, interleaved",	2,  32, 2, INTERLEAVED },
	{ "four sockets, interleaved",		4,   6, 2, INTERLEAVED },
	{ "desktop 8c/16t, n and n+1",		1,   8, 2, SIBLINGS_NEAR },
	{ "guest 8 CPUs",			2,   2, 2, SIBLINGS_NEAR },
	{ "SMT4 12 cores",			2,  12, 4, SIBLINGS_NEAR },
	{ "SMT8 6 cores",			1,   6, 8, SIBLINGS_NEAR },
	{ "SMT4, far siblings",			1,   7, 4, SIBLINGS_FAR },
	{ "3 cores",				1,   3, 1, SIBLINGS_NEAR },
	{ "5 cores, two threads",		2,   5, 2, SIBLINGS_FAR },
	{ "7 cores, two threads",		1,   7, 2, SIBLINGS_NEAR },
	{ "13 cores",				3,  13, 1, INTERLEAVED },
	{ "144 cores without SMT",		1, 144, 1, SIBLINGS_NEAR },
	{ "160c/320t, several hint words",	1, 160, 2, SIBLINGS_FAR },
	{ "Skylake, every 5th CPU offline",	2,  18, 2, SIBLINGS_FAR, 5 },
	{ "Ice Lake, every 3rd CPU offline",	2,  32, 2, INTERLEAVED, 3 },
	{ "SMT4, every 2nd CPU offline",	1,  12, 4, SIBLINGS_NEAR, 2 },
	{ "SMT4, three threads of each online",	1,  24, 4, SIBLINGS_NEAR, 4 },
	{ "SMT2, one thread of each offline",	1,  16, 2, SIBLINGS_NEAR, 2 },
	{ "2 cores of 40 threads",		1,   2, 40, SIBLINGS_NEAR },
	{ "3 cores of 32 threads",		1,   3, 32, SIBLINGS_NEAR },
	{ "5 cores of 24 threads",		1,   5, 24, SIBLINGS_FAR },
	{ "3 cores of 33 threads",		1,   3, 33, SIBLINGS_NEAR },
};

KUNIT_ARRAY_PARAM_DESC(topo, topos, name);

static int topo_number(const struct topo *t, unsigned int llc,
		       unsigned int core, unsigned int thread)
{
	unsigned int all = t->llcs * t->cores;

	switch (t->style) {
	case SIBLINGS_FAR:
		return thread * all + llc * t->cores + core;
	case SIBLINGS_NEAR:
		return (llc * t->cores + core) * t->threads + thread;
	case INTERLEAVED:
		return thread * all + core * t->llcs + llc;
	}
	return 0;
}

/**
 * struct llc - the CPUs of one LLC as the glue finds them
 * @nr: how many are online
 * @cpus: in ascending order
 * @cores: for each the first CPU of its core that is online
 * @core: for each its core in the topology
 */
struct llc {
	unsigned int		nr;
	int			*cpus;
	int			*cores;
	unsigned int		*core;
};

static void llc_init(struct kunit *test, struct llc *llc, const struct topo *t,
		     unsigned int which)
{
	unsigned int all = t->llcs * t->cores * t->threads;
	int *first, *label, cpu;
	unsigned int i, core, thread;

	llc->nr = 0;
	llc->cpus = kunit_kcalloc(test, all, sizeof(int), GFP_KERNEL);
	llc->cores = kunit_kcalloc(test, all, sizeof(int), GFP_KERNEL);
	llc->core = kunit_kcalloc(test, all, sizeof(int), GFP_KERNEL);
	label = kunit_kcalloc(test, all, sizeof(int), GFP_KERNEL);
	first = kunit_kcalloc(test, t->cores, sizeof(int), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, llc->cpus && llc->cores && llc->core && label && first);

	for (i = 0; i < all; i++)
		label[i] = -1;
	for (core = 0; core < t->cores; core++) {
		for (thread = 0; thread < t->threads; thread++)
			label[topo_number(t, which, core, thread)] = core;
		first[core] = -1;
	}

	for (cpu = 0; cpu < (int)all; cpu++) {
		if (label[cpu] < 0 || (t->hole && cpu % t->hole == t->hole - 1))
			continue;
		core = label[cpu];
		if (first[core] < 0)
			first[core] = cpu;
		llc->cpus[llc->nr] = cpu;
		llc->cores[llc->nr] = first[core];
		llc->core[llc->nr] = core;
		llc->nr++;
	}
}

static void free_layout(void *l)
{
	swq_layout_free(l);
}

static struct swq_layout *llc_layout(struct kunit *test, const struct llc *llc,
				     unsigned int wanted)
{
	struct swq_layout *l;

	l = swq_layout_alloc(llc->cpus, llc->cores, llc->nr, wanted, NULL,
			     NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, l);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_layout, l));

	return l;
}

/* The topology's cores that have a CPU online, counted the plain way. */
static unsigned int llc_cores(const struct llc *llc)
{
	unsigned int i, j, n = 0;

	for (i = 0; i < llc->nr; i++) {
		for (j = 0; j < i && llc->core[j] != llc->core[i]; j++)
			;
		n += j == i;
	}

	return n;
}

static void check_places(struct kunit *test, const struct llc *llc,
			 const struct swq_layout *l)
{
	unsigned int i, j, k = 0;
	int cpu;

	for (i = 0; i < llc->nr; i++) {
		const struct swq_place *p = swq_place_of(l, llc->cpus[i]);

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_EQ(test, l->cpus[i], llc->cpus[i]);
		KUNIT_ASSERT_LT(test, (unsigned int)p->shard, l->nr_shards);
		KUNIT_ASSERT_LT(test, (unsigned int)p->core, l->nr_cores);

		for (j = 0; j < i; j++) {
			const struct swq_place *q = swq_place_of(l, llc->cpus[j]);

			if (llc->core[i] == llc->core[j]) {
				KUNIT_EXPECT_EQ(test, p->core, q->core);
				KUNIT_EXPECT_EQ_MSG(test, p->shard, q->shard,
						    "siblings %d and %d split",
						    llc->cpus[j], llc->cpus[i]);
			} else {
				KUNIT_EXPECT_NE(test, p->core, q->core);
				/* In the order of cores, so that neighbours share a shard. */
				if (p->core < q->core)
					KUNIT_EXPECT_LE(test, p->shard, q->shard);
				else
					KUNIT_EXPECT_GE(test, p->shard, q->shard);
			}
		}
	}

	/* What is not a CPU of this LLC has no place. */
	for (cpu = -2; cpu < llc->cpus[llc->nr - 1] + 3; cpu++) {
		if (k < llc->nr && llc->cpus[k] == cpu)
			k++;
		else
			KUNIT_EXPECT_NULL_MSG(test, swq_place_of(l, cpu), "CPU %d", cpu);
	}
}

static void check_shard_sizes(struct kunit *test, const struct llc *llc,
			      const struct swq_layout *l)
{
	unsigned int s, i, least = UINT_MAX, most = 0, cpus, all = 0;

	for (s = 0; s < l->nr_shards; s++) {
		unsigned int cores = 0, last = UINT_MAX, core;

		cpus = 0;
		for (core = 0; core < l->nr_cores; core++) {
			for (i = 0; i < llc->nr; i++) {
				const struct swq_place *p = swq_place_of(l, llc->cpus[i]);

				if (p->shard != s || p->core != core)
					continue;
				cpus++;
				cores += core != last;
				last = core;
			}
		}
		KUNIT_EXPECT_GT_MSG(test, cpus, 0u, "shard %u is empty", s);
		least = min(least, cores);
		most = max(most, cores);
		all += cpus;
	}
	KUNIT_EXPECT_EQ(test, all, llc->nr);
	KUNIT_EXPECT_LE_MSG(test, most - least, 1u, "from %u to %u cores", least, most);
}

static void check_words(struct kunit *test, const struct llc *llc,
			const struct swq_layout *l)
{
	unsigned int i, j, threads, bits = 0;

	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)l->shards, SMP_CACHE_BYTES));
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)l->hint, SMP_CACHE_BYTES));
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)l->ann, SMP_CACHE_BYTES));
	KUNIT_EXPECT_FALSE(test, swq_hinted(l));
	KUNIT_EXPECT_TRUE(test, list_empty(&l->entry));

	for (i = 0; i < l->nr_shards; i++) {
		const struct swq_shard *s = &l->shards[i];

		KUNIT_EXPECT_EQ(test, s->id, i);
		KUNIT_EXPECT_TRUE(test, list_empty(&s->tokens));
		KUNIT_EXPECT_LT(test, s->hint_bit, (unsigned int)BITS_PER_LONG);
		KUNIT_EXPECT_TRUE(test, s->hint >= l->hint && s->hint < l->hint + l->nr_hints);
		/* The looker's arithmetic leads to the same bit. */
		KUNIT_EXPECT_PTR_EQ(test, s->hint, &l->hint[i / l->shards_per_hint]);
		KUNIT_EXPECT_EQ(test, s->hint_bit, i % l->shards_per_hint);
	}
	/* A word serves the CPUs of SWQ_HINT_CPUS at most, within one core. */
	for (i = 0; i < l->nr_hints; i++) {
		unsigned int cpus = 0;

		for (j = 0; j < llc->nr; j++)
			cpus += swq_place_of(l, llc->cpus[j])->shard / l->shards_per_hint == i;
		KUNIT_EXPECT_GT(test, cpus, 0u);
		if (l->shards_per_hint > 1)
			KUNIT_EXPECT_LE(test, cpus, SWQ_HINT_CPUS + SWQ_HINT_CPUS / 4);
	}

	for (i = 0; i < llc->nr; i++) {
		const struct swq_place *p = swq_place_of(l, llc->cpus[i]);

		KUNIT_ASSERT_LT(test, p->ann / BITS_PER_LONG, (int)l->nr_anns);
		KUNIT_EXPECT_EQ(test, l->ann_cpus[p->ann], llc->cpus[i]);
		KUNIT_EXPECT_TRUE(test, test_bit(p->ann % BITS_PER_LONG,
						 &l->ann[p->ann / BITS_PER_LONG].bits));
		/* A whole core, unless it is too large for any word to hold two. */
		for (j = 0, threads = 0; j < llc->nr; j++)
			threads += llc->core[j] == llc->core[i];
		KUNIT_EXPECT_EQ(test, (unsigned int)p->core_nr,
				threads <= BITS_PER_LONG / 2 ? threads : 1);
		/* The bits of a core stand together in one word. */
		KUNIT_EXPECT_GE(test, p->ann, p->core_ann);
		KUNIT_EXPECT_LT(test, p->ann, p->core_ann + p->core_nr);
		KUNIT_EXPECT_EQ(test, p->core_ann / BITS_PER_LONG,
				(p->core_ann + p->core_nr - 1) / BITS_PER_LONG);
		for (j = p->core_ann; j < (unsigned int)p->core_ann + p->core_nr; j++)
			KUNIT_EXPECT_EQ(test, swq_place_of(l, l->ann_cpus[j])->core, p->core);
	}
	for (i = 0; i < l->nr_anns; i++)
		bits += hweight_long(l->ann[i].bits);
	KUNIT_EXPECT_EQ(test, bits, llc->nr);
	for (i = 0; i < l->nr_anns * BITS_PER_LONG; i++) {
		if (l->ann_cpus[i] >= 0)
			KUNIT_EXPECT_EQ(test, swq_place_of(l, l->ann_cpus[i])->ann, i);
	}
}

static void layout_topology(struct kunit *test)
{
	const struct topo *t = test->param_value;
	unsigned int which, i;

	for (which = 0; which < t->llcs; which++) {
		unsigned int cores, wanted[9] = { 0, 1, 2, 3, 4, 8 };
		struct llc llc;

		llc_init(test, &llc, t, which);
		cores = llc_cores(&llc);
		wanted[6] = cores;
		wanted[7] = cores + 1;
		wanted[8] = SWQ_MAX_SHARDS;
		for (i = 0; i < ARRAY_SIZE(wanted); i++) {
			struct swq_layout *l = llc_layout(test, &llc, wanted[i]);
			unsigned int shards = wanted[i] ?: (llc.nr + 7) / 8;

			KUNIT_EXPECT_EQ(test, l->nr_cpus, llc.nr);
			KUNIT_EXPECT_EQ(test, l->llc, llc.cpus[0]);
			KUNIT_EXPECT_EQ(test, l->wanted, wanted[i]);
			KUNIT_EXPECT_EQ(test, l->nr_cores, cores);
			KUNIT_ASSERT_EQ(test, l->nr_shards,
					shards > cores ? cores : shards);
			check_places(test, &llc, l);
			check_shard_sizes(test, &llc, l);
			check_words(test, &llc, l);
			kunit_release_action(test, free_layout, l);
			cond_resched();
		}
	}
}

static unsigned int shard_of(const struct swq_layout *l, const struct topo *t,
			     unsigned int llc, unsigned int core, unsigned int thread)
{
	return swq_place_of(l, topo_number(t, llc, core, thread))->shard;
}

/* The same cores and threads, numbered in three ways, come out the same. */
static void layout_numbering(struct kunit *test)
{
	static const unsigned int shapes[][2] = {
		{ 18, 2 }, { 56, 2 }, { 8, 2 }, { 7, 2 }, { 12, 4 }, { 5, 8 }, { 3, 1 },
	};
	unsigned int i, shards, n;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct topo near = { "", 1, shapes[i][0], shapes[i][1], SIBLINGS_NEAR };
		struct topo far = { "", 1, shapes[i][0], shapes[i][1], SIBLINGS_FAR };
		struct topo mixed = { "", 2, shapes[i][0], shapes[i][1], INTERLEAVED };
		struct llc a, b, c;

		llc_init(test, &a, &near, 0);
		llc_init(test, &b, &far, 0);
		llc_init(test, &c, &mixed, 1);
		for (shards = 0; shards <= near.cores; shards++) {
			struct swq_layout *la = llc_layout(test, &a, shards);
			struct swq_layout *lb = llc_layout(test, &b, shards);
			struct swq_layout *lc = llc_layout(test, &c, shards);

			for (n = 0; n < near.cores * near.threads; n++) {
				unsigned int core = n / near.threads;
				unsigned int thread = n % near.threads;
				unsigned int want = shard_of(la, &near, 0, core, thread);

				KUNIT_EXPECT_EQ(test, want, shard_of(lb, &far, 0, core, thread));
				KUNIT_EXPECT_EQ(test, want, shard_of(lc, &mixed, 1, core, thread));
			}
			kunit_release_action(test, free_layout, la);
			kunit_release_action(test, free_layout, lb);
			kunit_release_action(test, free_layout, lc);
		}
	}
}

/* Whatever numbers the cores have, as long as siblings share one. */
static void layout_core_labels(struct kunit *test)
{
	struct topo t = { "", 2, 18, 2, SIBLINGS_FAR };
	struct swq_layout *plain, *odd;
	struct llc llc;
	unsigned int i;

	llc_init(test, &llc, &t, 1);
	plain = llc_layout(test, &llc, 5);
	for (i = 0; i < llc.nr; i++)
		llc.cores[i] = 1000000 - 7 * (int)llc.core[i];
	odd = llc_layout(test, &llc, 5);
	for (i = 0; i < llc.nr; i++)
		KUNIT_EXPECT_EQ(test, swq_place_of(plain, llc.cpus[i])->shard,
				swq_place_of(odd, llc.cpus[i])->shard);
}

static void layout_shard_count(struct kunit *test)
{
	unsigned int cpus;

	/* A size, not a number: the count grows with the LLC. */
	for (cpus = 1; cpus <= 512; cpus++) {
		unsigned int n = swq_nr_shards(0, cpus, cpus);

		KUNIT_EXPECT_GE(test, n * SWQ_SHARD_CPUS, cpus);
		KUNIT_EXPECT_LT(test, (n - 1) * SWQ_SHARD_CPUS, cpus);
	}
	KUNIT_EXPECT_EQ(test, swq_nr_shards(0, 36, 18), 5u);
	KUNIT_EXPECT_EQ(test, swq_nr_shards(0, 8, 1), 1u);
	KUNIT_EXPECT_EQ(test, swq_nr_shards(1, 36, 18), 1u);
	KUNIT_EXPECT_EQ(test, swq_nr_shards(18, 36, 18), 18u);
	KUNIT_EXPECT_EQ(test, swq_nr_shards(19, 36, 18), 18u);
	KUNIT_EXPECT_EQ(test, swq_nr_shards(SWQ_MAX_SHARDS, 36, 18), 18u);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE_PARAM(layout_topology, topo_gen_params),
	KUNIT_CASE(layout_numbering),
	KUNIT_CASE(layout_core_labels),
	KUNIT_CASE(layout_shard_count),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "swqueue_layout",
	.test_cases = layout_cases,
};

kunit_test_suite(layout_suite);
