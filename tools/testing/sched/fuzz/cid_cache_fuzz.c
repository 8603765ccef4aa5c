// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: a stream of operations on the arrays of kunit/cid_cache_lab.h.
 *
 * One operation at a time, a naive model says what has to come out: who is
 * counted, which CPUs are allowed, which id a switch must give, and which ids
 * may have changed hands. With the first byte odd, other CPUs act between any
 * two accesses of an operation, as the input says; then what the oracle of the
 * lab says must hold at each point, and the counts after each operation.
 */
#include "fuzz.h"
#include "cid_cache_lab.h"

#define FUZZ_IDS	LAB_CPUS

/* Where an id is. */
enum place { FREE_ID, PARKED_ID, RUNNING_ID };

struct id {
	enum place		place;
	int			cpu;
	u32			since;
};

struct naive {
	u64			gen[LAB_MMS];
	unsigned long		allowed[LAB_MMS];
	struct id		id[LAB_MMS][FUZZ_IDS];
};

static struct lab lab;
static struct naive naive;
static bool alone;		/* one operation at a time */
static bool tracing;

static u32 choose(struct lab *l, u32 n)
{
	return input_below(NULL, n);
}

static int mm_index(const struct lab_mm *mm)
{
	return mm - lab.mm;
}

/* What the words say. */
static struct id where(int m, unsigned int k)
{
	u64 gen = lab.mm[m].live ? lab.mm[m].cm.gen : 0;
	unsigned int cpu, i;

	for (cpu = 0; gen && cpu < lab.env.nr_cpus; cpu++) {
		struct cid_cache *cc = &lab.cache[cpu];

		for (i = 0; i < CID_CACHE_WORDS; i++) {
			if (cc->word[i] == cid_word(gen, k, CID_RUNNING))
				return (struct id){ RUNNING_ID, cpu, 0 };
			if (cc->word[i] == cid_word(gen, k, CID_PARKED))
				return (struct id){ PARKED_ID, cpu, cc->stamp[i] };
		}
	}
	return (struct id){ FREE_ID, -1, 0 };
}

/* Read all the words again; only CPU @cpu has done something since the last time. */
static void follow(int cpu)
{
	unsigned int m, k;

	for (m = 0; m < LAB_MMS; m++) {
		bool known = lab.mm[m].live && naive.gen[m] == lab.mm[m].cm.gen;

		naive.gen[m] = lab.mm[m].live ? lab.mm[m].cm.gen : 0;
		for (k = 0; k < lab.env.nr_ids; k++) {
			struct id was = naive.id[m][k], is = where(m, k);

			naive.id[m][k] = is;
			if (!known || !alone || cpu < 0)
				continue;
			if (was.place == is.place && was.cpu == is.cpu)
				continue;
			if (was.place == RUNNING_ID && was.cpu != cpu)
				complain("id %u was taken from CPU %d, which runs with it", k, was.cpu);
			if (was.place == FREE_ID && is.place == PARKED_ID && is.cpu != cpu)
				complain("id %u is parked where nobody was", k);
			if (is.place != FREE_ID && is.cpu != cpu)
				complain("CPU %d gave id %u to CPU %d", cpu, k, is.cpu);
			if (was.place == PARKED_ID && was.cpu != cpu && is.place == FREE_ID)
				complain("CPU %d lost id %u of mm %u of CPU %d", cpu, k, m, was.cpu);
		}
	}
}

static void counts(void)
{
	unsigned int users[LAB_MMS] = { 0 }, i;

	for (i = 0; i < LAB_TASKS; i++) {
		struct lab_task *t = &lab.task[i];

		if (t->live && t->mm && t->t.active != CID_INACTIVE)
			users[mm_index(t->mm)]++;
	}
	for (i = 0; i < LAB_MMS; i++) {
		struct lab_mm *mm = &lab.mm[i];

		if (!mm->live)
			continue;
		if (atomic_read(&mm->cm.users) != (int)users[i])
			complain("mm %u has %u users, but counts %d", i, users[i],
				 atomic_read(&mm->cm.users));
		if (mm->cm.nr_allowed != hweight_long(mm->allowed[0]))
			complain("mm %u: weight of the allowed CPUs", i);
		if (alone && mm->allowed[0] != naive.allowed[i])
			complain("mm %u: allowed CPUs %lx, not %lx", i, mm->allowed[0], naive.allowed[i]);
	}
}

static void check(void)
{
	lab_oracle(&lab);
	if (lab.error)
		complain("%s", lab.error);
	if (lab.env.warned)
		complain("a warning about the accounting");
	counts();
}

static u64 switches(int cpu)
{
	const struct cid_stats *st = &lab.cache[cpu].stats;

	return st->hand_over + st->single + st->hit + st->last_id + st->own_id + st->free_id +
	       st->stolen + st->compacted + st->slow;
}

/* A task that is about to get an id on a CPU: what may it be? */
struct forecast {
	unsigned int		bound;
	int			exactly;	/* -1: not known */
	bool			young_last;	/* all others are in use or young */
	u64			switches;
};

static bool young(const struct id *id)
{
	u32 keep = lab.env.keep;

	return id->place == PARKED_ID && (keep == CID_KEEP_FOREVER || lab.now - id->since < keep);
}

/* @prev: an active task that runs here now and holds a word, or NULL. */
static struct forecast forecast(int cpu, const struct lab_task *prev, const struct lab_task *t)
{
	int m = mm_index(t->mm), own = -1, lowest = -1, last = t->t.cid;
	struct forecast f = { .exactly = -1, .switches = switches(cpu) + 1, .young_last = true };
	unsigned int users = atomic_read(&t->mm->cm.users), k;
	struct id id[FUZZ_IDS];
	bool holds = prev && lab.cache[cpu].cur;

	f.bound = min_t(unsigned int, users, hweight_long(naive.allowed[m]));
	memcpy(id, naive.id[m], sizeof(id));
	if (holds && prev->mm == t->mm) {
		if (prev->t.cid < (int)f.bound) {
			f.exactly = prev->t.cid;	/* handed over */
			return f;
		}
		id[prev->t.cid] = (struct id){ FREE_ID, -1, 0 };
	}
	if (users == 1) {
		f.exactly = 0;
		return f;
	}
	for (k = 0; k < f.bound; k++) {
		if (id[k].place != RUNNING_ID && lowest < 0)
			lowest = k;
		if (id[k].place == PARKED_ID && id[k].cpu == cpu)
			own = k;
		if (id[k].place == FREE_ID || (id[k].place == PARKED_ID && !young(&id[k])))
			f.young_last = false;
	}
	if (lowest < 0)
		complain("more threads run than the bound allows");
	if (own >= 0 && (!own || young(&id[own])))
		f.exactly = own;
	else if (!lab.env.keep)
		f.exactly = lowest;
	else if (own < 0 && last >= 0 && last < (int)f.bound &&
		 (id[last].place == FREE_ID || young(&id[last])))
		f.exactly = last;
	return f;
}

static void verify(int cpu, const struct lab_task *t, const struct forecast *f, const struct naive *old)
{
	struct id was = old->id[mm_index(t->mm)][max(t->t.cid, 0)];

	if (t->t.cid < 0 || t->t.cid >= (int)f->bound)
		complain("id %d, bound %u", t->t.cid, f->bound);
	if (f->exactly >= 0 && t->t.cid != f->exactly)
		complain("CPU %d got id %d, not %d", cpu, t->t.cid, f->exactly);
	if (f->exactly < 0 && young(&was) && was.cpu != cpu && !f->young_last)
		complain("took the young id %d of CPU %d, though others were there", t->t.cid, was.cpu);
	if (switches(cpu) != f->switches)
		complain("the switch was counted %lld times", (long long)(switches(cpu) - f->switches + 1));
}

static void switch_to(int cpu, struct lab_task *next)
{
	struct lab_task *prev = lab.cpu[cpu].curr;
	static struct naive old;
	struct forecast f;

	if (!next || next->t.active != CID_ACTIVE) {
		lab_switch(&lab, cpu, next);
		return;
	}
	old = naive;
	f = forecast(cpu, prev && prev->t.active == CID_ACTIVE ? prev : NULL, next);
	lab_switch(&lab, cpu, next);
	verify(cpu, next, &f, &old);
}

/* A task that waits and may run on @cpu, or NULL. */
static struct lab_task *waiting(int cpu)
{
	struct lab_task *t = &lab.task[input_below(NULL, lab.nr_tasks)];

	if (!t->live || t->cpu != -1 || !(t->mm->allowed[0] & BIT_MASK(cpu)))
		return NULL;
	return t;
}

static void new_mm(struct lab_mm *mm, int cpu)
{
	unsigned long mask = input_below(NULL, 2) ? lab.possible[0] :
			     (input_below(NULL, 256) & lab.possible[0]) | BIT_MASK(cpu);

	allow_only(&mm->cm, &mask, lab.possible, lab.env.nr_cpus, -1);
	naive.allowed[mm_index(mm)] = mask;
}

static void fork_on(int cpu)
{
	struct lab_task *t;

	if (rnd_count(&lab) >= lab.nr_tasks || rnd_mms(&lab) >= lab.nr_mms)
		return;
	t = lab_fork(&lab);
	new_mm(t->mm, cpu);
}

static void one_at_a_time(int cpu)
{
	struct lab_task *t = lab.cpu[cpu].curr;
	static struct naive old;
	unsigned long mask;
	struct forecast f;

	lab.now += input_below(NULL, 4);
	if (!rnd_count(&lab))
		fork_on(cpu);
	switch (input_below(NULL, 12)) {
	case 0:
		if (!t) {
			lab_evict(&lab, cpu);
			break;
		}
		if (t->t.active == CID_ACTIVE && rnd_count(&lab) < lab.nr_tasks)
			lab_clone(&lab, cpu);
		break;
	case 1:
		if (t && t->t.active == CID_ACTIVE)
			fork_on(cpu);
		break;
	case 2:
		if (t)
			lab_exit(&lab, cpu);
		break;
	case 3:
		if (t && t->t.active == CID_ACTIVE)
			lab_exec_before(&lab, cpu);
		break;
	case 4:
		if (!t || t->t.active != CID_EXEC)
			break;
		if (input_below(NULL, 2) && rnd_mms(&lab) < lab.nr_mms && lab_exec_mmap(&lab, cpu)) {
			new_mm(t->mm, cpu);
			follow(-1);
		}
		old = naive;
		f = forecast(cpu, NULL, t);
		lab_exec_after(&lab, cpu);
		verify(cpu, t, &f, &old);
		break;
	case 5:
		if (!t || !t->mm)
			break;
		mask = input_below(NULL, 256);
		allow(&lab.env, 0, &t->mm->cm, &mask, lab.possible,
		      lab.env.nr_cpus);
		naive.allowed[mm_index(t->mm)] |= mask & lab.possible[0];
		break;
	case 6:
		if (!t)
			cid_cache_online(&lab.cache[cpu]);
		break;
	default:
		switch_to(cpu, input_below(NULL, 4) ? waiting(cpu) : NULL);
		break;
	}
}

/* With FUZZ_TRACE set: what every CPU runs, and what stands in its cache. */
static void tell(int acted)
{
	unsigned int cpu, i;

	fprintf(stderr, "%u: CPU %d", input_op, acted);
	for (cpu = 0; cpu < lab.env.nr_cpus; cpu++) {
		const struct lab_task *t = lab.cpu[cpu].curr;

		if (t)
			fprintf(stderr, " | mm %d users %d id %d%s:", mm_index(t->mm),
			       atomic_read(&t->mm->cm.users), t->t.cid,
			       t->t.active == CID_EXEC ? " exec" : "");
		else
			fprintf(stderr, " | idle:");
		for (i = 0; i < CID_CACHE_WORDS; i++) {
			u64 w = lab.cache[cpu].word[i];

			if (w)
				fprintf(stderr, " %llu.%u%c", (unsigned long long)cid_word_gen(w), cid_word_cid(w),
				       cid_word_state(w) == CID_RUNNING ? 'R' : 'P');
		}
	}
	fputc('\n', stderr);
}

#define MAX_CPUS	4

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 keep[] = { 0, 1, 3, CID_KEEP_FOREVER };
	static struct cid_cache *ptr[MAX_CPUS];
	unsigned long flags;
	int cpu;

	input_begin(data, size);
	memset(&lab, 0, sizeof(lab));
	memset(&naive, 0, sizeof(naive));
	tracing = getenv("FUZZ_TRACE");
	alone = !(input_below(NULL, 256) & 1);
	lab_init(&lab, ptr, 1 + input_below(NULL, MAX_CPUS), keep[input_below(NULL, 4)]);
	lab.choose = choose;
	lab.nr_tasks = 6;
	lab.nr_mms = 3;
	if (!alone) {
		lab.hook = hook_random;
		lab.max_steps = 20000;
		lab.env.expired = rnd_expired;
		lab_fork(&lab);
	}
	while (input_left && lab.steps < 20000) {
		input_op++;
		cpu = input_below(NULL, lab.env.nr_cpus);
		local_irq_save(flags);
		if (alone)
			one_at_a_time(cpu);
		else
			rnd_op(&lab, cpu);
		local_irq_restore(flags);
		if (tracing)
			tell(cpu);
		follow(cpu);
		check();
	}
	if (lab_stats(&lab).exceeded || (alone && lab_stats(&lab).slow))
		complain("a slow path, or a broken bound");
	input_end();
	return 0;
}
