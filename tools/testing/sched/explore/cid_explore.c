// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every interleaving of the CID cache's operations on a small machine.
 *
 * kernel/sched/cid_cache.c runs unchanged.  Each CPU is a coroutine; at each
 * point between two accesses to shared data (the hook of struct cid_env) it
 * gives control back.  The explorer goes breadth first over all states: it
 * saves words, owner words, counters and the stacks of the coroutines, lets one
 * CPU do one step, and looks whether the state it gets is new.
 *
 * Kept out of the state: generations (an mm's index stands for its generation,
 * words of a dead mm are all alike) and sequence numbers (what counts is whether
 * an owner word has changed since a CPU read it).  So fork, exec, exit and
 * stealing may go on for ever and the number of states is finite.
 *
 * Threads of an mm are interchangeable and only counted.  Their last id, and
 * whether a parked id has expired, are free choices of each step.
 *
 * The options are those of the protocol's Promela model, so that the sets of
 * states in which no operation is under way can be compared (--quiescent).
 */
#include <getopt.h>

#define MAXCO		3
#include "engine.h"
#include "cid_cache.h"

#define MAXCPU		MAXCO
#define MAXMM		2
#define NS		CID_CACHE_WORDS

enum op { OP_NONE, OP_EVICT, OP_IDLE, OP_RUN, OP_CLONE, OP_FORK, OP_EXIT, OP_EXEC,
	  OP_EXECFAIL, OP_AFF };
static const char *const op_name[] = { "-", "evict", "to idle", "switch", "clone", "fork",
				       "exit", "exec", "failing exec", "affinity" };
static const char *const point_name[CID_NR_POINTS] = {
	"park", "drop", "bound", "gate", "gate-wait", "users", "resume", "owner-scan",
	"owner", "word", "steal", "tentative", "claim", "claimed", "revert", "lock",
	"episode", "rebound", "episode-end", "unlock", "join", "leave",
};

#define POINT_QUIET	CID_NR_POINTS	/* no operation under way */

/* What a CPU does next, chosen while it is quiet. */
struct action {
	u8	op;
	u8	mm;		/* or the slot, for evict */
	s8	hint;
};

struct cpu {
	struct cid_task		task;		/* of the thread that runs */
	const struct cid_search	*s;
	u64			a, b;
	struct action		act;
	u8			point;
	s8			mm;		/* of the thread that runs, -1: idle */
	u8			phase;
	s8			new_mm;
};

struct mm {
	struct cid_mm	cm;
	u64		owner[MAXCPU];
	unsigned long	allowed[1];
	u8		live;
	u8		ready;
};

/* Everything that is saved besides the stacks. */
static struct world {
	struct cid_cache	cache[MAXCPU];
	struct mm		mm[MAXMM];
	struct cpu		cpu[MAXCPU];
	u64			next_gen;
	u8			threads;
} w;

static struct cid_cache *cache_ptr[MAXCPU];
static struct cid_env env;

static unsigned int ncpu = 2, nmm = 2, maxt = 3;
static bool opt_evict, opt_aff, opt_free, opt_hints;
static const char *quiescent_file;
static u64 max_states = ~0ULL;
static unsigned long all_cpus;

static void step_hook(struct cid_env *e, int cpu, enum cid_point point,
		      const struct cid_search *s, u64 a, u64 b)
{
	struct cpu *c = &w.cpu[cpu];

	/* Under a lock that no state has: nobody comes between. */
	if (point == CID_AT_ALLOWED)
		return;
	c->point = point;
	c->s = s;
	c->a = a;
	c->b = b;
	co_yield(cpu);
}

/* Free choices within a step: the explorer tries them all, one after another. */
static unsigned int choice_bits, choice_used;

static bool expired_hook(struct cid_env *e, int cpu, int owner, unsigned int slot)
{
	if (!opt_free)
		return !e->keep;
	return choice_bits >> choice_used++ & 1;
}

/* ---- operations ---- */

static struct cid_mm *cm(int m)
{
	return m < 0 ? NULL : &w.mm[m].cm;
}

static int free_mm(void)
{
	unsigned int m;

	for (m = 0; m < nmm; m++) {
		if (!w.mm[m].live)
			return m;
	}
	return -1;
}

static void new_mm(int m, unsigned int cpu)
{
	struct mm *mm = &w.mm[m];
	unsigned long mask = opt_aff ? BIT_MASK(cpu) : all_cpus;

	memset(mm, 0, sizeof(*mm));
	cid_mm_init(&mm->cm, mm->allowed);
	cid_allow_only(&mm->cm, &mask, &all_cpus, ncpu, -1);
	mm->live = 1;
}

static void put_mm(int m)
{
	if (m >= 0 && !atomic_read(&w.mm[m].cm.users)) {
		if (w.mm[m].ready || w.mm[m].cm.lock.locked)
			explore_error("an mm without users is in use");
		memset(&w.mm[m], 0, sizeof(w.mm[m]));
	}
}

static void do_action(unsigned int i)
{
	struct cid_cache *cc = &w.cache[i];
	struct cpu *c = &w.cpu[i];
	struct cid_task child;
	int old = c->mm;

	switch (c->act.op) {
	case OP_EVICT:
		smp_store_release(&cc->word[c->act.mm], CID_EMPTY);
		break;
	case OP_IDLE:
		cid_switch(&env, cc, i, NULL, NULL, 0);
		w.mm[old].ready++;
		c->mm = -1;
		break;
	case OP_RUN:
		/* The next thread left the queue when it was chosen. */
		c->task.cid = c->act.hint;
		c->task.active = CID_ACTIVE;
		cid_switch(&env, cc, i, cm(c->act.mm), &c->task, 0);
		if (old >= 0)
			w.mm[old].ready++;
		c->mm = c->act.mm;
		break;
	case OP_CLONE:
		if (!w.mm[c->mm].cm.gen)
			cid_mm_multi(cm(c->mm), w.mm[c->mm].owner, w.next_gen++);
		cid_task_init(&child);
		cid_clone(&env, cc, i, cm(c->mm), &c->task, &child, 0);
		w.mm[c->mm].ready++;
		break;
	case OP_FORK:
		cid_task_init(&child);
		cid_fork(cm(c->new_mm), &child);
		w.mm[c->new_mm].ready = 1;
		break;
	case OP_EXIT:
		cid_exit(&env, cc, i, cm(c->mm), &c->task, 0);
		cid_switch(&env, cc, i, NULL, NULL, 0);
		w.threads--;
		c->mm = -1;
		put_mm(old);
		break;
	case OP_EXEC:
		cid_exec_before(&env, cc, i, cm(c->mm), &c->task, 0);
		c->phase = 1;
		cid_exec_mmap(&env, i, cm(c->mm), cm(c->new_mm), &c->task);
		c->mm = c->new_mm;
		c->phase = 2;
		put_mm(old);
		cid_exec_after(&env, cc, i, cm(c->mm), &c->task, 0);
		break;
	case OP_EXECFAIL:
		cid_exec_before(&env, cc, i, cm(c->mm), &c->task, 0);
		c->phase = 1;
		cid_exec_after(&env, cc, i, cm(c->mm), &c->task, 0);
		break;
	case OP_AFF:
		cid_allow(&env, i, cm(c->mm), &all_cpus, &all_cpus, ncpu);
		break;
	}
	c->act.op = OP_NONE;
	c->act.mm = 0;
	c->act.hint = 0;
	c->phase = 0;
	c->new_mm = 0;
}

static void cpu_main(int i)
{
	for (;;) {
		struct cpu *c = &w.cpu[i];

		c->point = POINT_QUIET;
		c->s = NULL;
		c->a = 0;
		c->b = 0;
		co_yield(i);
		do_action(i);
	}
}

/* Chosen by the explorer: what belongs to the choice happens with it. */
static void choose(unsigned int i, const struct action *act)
{
	struct cpu *c = &w.cpu[i];
	int m;

	c->act = *act;
	switch (act->op) {
	case OP_RUN:
		w.mm[act->mm].ready--;
		break;
	case OP_CLONE:
		w.threads++;
		break;
	case OP_FORK:
		w.threads++;
		m = free_mm();
		new_mm(m, i);
		c->new_mm = m;
		break;
	case OP_EXEC:
		m = free_mm();
		new_mm(m, i);
		c->new_mm = m;
		break;
	}
}

static unsigned int add_run(struct action *out, unsigned int n, unsigned int i, unsigned int m)
{
	int h;

	if (!w.mm[m].live || !w.mm[m].ready || !(w.mm[m].allowed[0] & BIT_MASK(i)))
		return n;
	for (h = CID_NONE; h < (opt_hints ? (int)ncpu : 0); h++)
		out[n++] = (struct action){ OP_RUN, m, h };
	return n;
}

static unsigned int actions(unsigned int i, struct action *out)
{
	struct cpu *c = &w.cpu[i];
	unsigned int n = 0, j;

	if (c->mm < 0) {
		for (j = 0; opt_evict && j < NS; j++) {
			if (w.cache[i].word[j])
				out[n++] = (struct action){ OP_EVICT, j, 0 };
		}
		for (j = 0; j < nmm; j++)
			n = add_run(out, n, i, j);
		return n;
	}
	out[n++] = (struct action){ OP_IDLE, 0, 0 };
	for (j = 0; j < nmm; j++)
		n = add_run(out, n, i, j);
	if (w.threads < maxt) {
		out[n++] = (struct action){ OP_CLONE, 0, 0 };
		if (free_mm() >= 0)
			out[n++] = (struct action){ OP_FORK, 0, 0 };
	}
	out[n++] = (struct action){ OP_EXIT, 0, 0 };
	out[n++] = (struct action){ OP_EXECFAIL, 0, 0 };
	if (free_mm() >= 0)
		out[n++] = (struct action){ OP_EXEC, 0, 0 };
	if (opt_aff && w.mm[c->mm].allowed[0] != all_cpus)
		out[n++] = (struct action){ OP_AFF, 0, 0 };
	return n;
}

static struct mm *search_mm(struct cpu *c)
{
	if (c->act.op == OP_RUN)
		return &w.mm[c->act.mm];
	return &w.mm[c->mm];
}

/* Would the step only wait? */
static bool waits(unsigned int i)
{
	struct cpu *c = &w.cpu[i];

	if (c->point == CID_AT_LOCK)
		return search_mm(c)->cm.lock.locked;
	if (c->point == CID_AT_GATE_WAIT)
		return search_mm(c)->cm.episode == c->a;
	return false;
}

/* ---- oracle ---- */

static int mm_by_gen(u64 gen)
{
	unsigned int m;

	for (m = 0; m < nmm; m++) {
		if (w.mm[m].live && w.mm[m].cm.gen == gen)
			return m;
	}
	return -1;
}

static void check(void)
{
	unsigned int i, j, seen[MAXMM] = { 0 };

	for (i = 0; i < ncpu; i++) {
		struct cid_cache *cc = &w.cache[i];
		struct cpu *c = &w.cpu[i];

		for (j = 0; j < NS; j++) {
			u64 word = cc->word[j];
			bool run = cid_word_state(word) == CID_RUNNING;
			int m;

			if (!word)
				continue;
			if (c->point == POINT_QUIET && run != (cc->cur == j + 1))
				explore_error("a RUNNING word has no holder");
			m = mm_by_gen(cid_word_gen(word));
			if (m < 0)
				continue;
			if (NS > 1 && j && cid_word_gen(cc->word[0]) == cid_word_gen(word))
				explore_error("two words of one gen in a cache");
			if (run && cc->cur != j + 1)
				continue;	/* tentative */
			if (cid_owner_cpu(w.mm[m].owner[cid_word_cid(word)]) != (int)i)
				explore_error("a word is not named by its owner word");
			if (!run)
				continue;
			if (seen[m] & 1U << cid_word_cid(word))
				explore_error("an id is held twice");
			seen[m] |= 1U << cid_word_cid(word);
		}
		if (cc->stats.slow_again)
			explore_error("a locked pass failed");
		if (cc->stats.exceeded || env.warned)
			explore_error("the bound was broken");
		/* Implicit 0, also while it is being made explicit. */
		if (c->mm >= 0 && !cc->cur &&
		    (c->point == POINT_QUIET || c->act.op == OP_CLONE)) {
			if (seen[c->mm] & 1U)
				explore_error("an implicit 0 beside another 0");
			seen[c->mm] |= 1U;
		}
		if (c->point == POINT_QUIET && c->mm >= 0) {
			int k = cc->cur ? (int)cid_word_cid(cc->word[cc->cur - 1]) : 0;

			if (c->task.cid != k)
				explore_error("a thread has another id than its word");
			if (!cc->cur && atomic_read(&w.mm[c->mm].cm.users) != 1)
				explore_error("an implicit 0 beside other users");
		}
		if (c->point == POINT_QUIET && c->mm < 0 && cc->cur)
			explore_error("an idle CPU holds an id");
	}
}

/* ---- identity of a state ---- */

static u8 enc[512];
static unsigned int enc_len;

static void put(unsigned int v)
{
	enc[enc_len++] = v;
}

static void put_word(u64 word)
{
	int m;

	if (!word) {
		put(0);
		return;
	}
	m = mm_by_gen(cid_word_gen(word));
	put(m < 0 ? 255 : 1 + ((m * MAXCPU + cid_word_cid(word)) * 4 + cid_word_state(word)));
}

static bool has_owner_value(u8 point, const struct cid_search *s)
{
	switch (point) {
	case CID_AT_WORD:
	case CID_AT_STEAL:
	case CID_AT_TENTATIVE:
	case CID_AT_CLAIM:
		return true;
	case CID_AT_RESUME:
		return s;
	}
	return false;
}

static void encode(void)
{
	unsigned int i, j;

	enc_len = 0;
	put(w.threads);
	for (i = 0; i < nmm; i++) {
		struct mm *mm = &w.mm[i];

		put(mm->live);
		if (!mm->live)
			continue;
		put(mm->ready);
		put(atomic_read(&mm->cm.users));
		put(mm->allowed[0]);
		put(mm->cm.nr_allowed);
		put((mm->cm.episode & 1) | mm->cm.lock.locked << 1 | !!mm->cm.gen << 2);
		for (j = 0; j < ncpu; j++)
			put(cid_owner_cpu(mm->owner[j]) + 1);
	}
	for (i = 0; i < ncpu; i++) {
		struct cid_cache *cc = &w.cache[i];
		struct cpu *c = &w.cpu[i];
		const struct cid_search *s = c->s;

		for (j = 0; j < NS; j++)
			put_word(cc->word[j]);
		put(cc->cur);
		if (NS > 1) {
			put(cc->hand);
			put(cc->used);
		}
		put(c->mm + 1);
		put(c->point);
		if (c->point == POINT_QUIET)
			continue;
		put(c->act.op | c->phase << 6);
		put(c->act.mm);
		put(c->task.active);
		/* The hint is looked at before the search only. */
		put(s ? 0 : c->task.cid + 1);
		put(c->new_mm);
		if (c->point == CID_AT_GATE_WAIT) {
			put(search_mm(c)->cm.episode == c->a);
		} else {
			put(c->a);
			put(c->b);
		}
		if (!s)
			continue;
		put(s->bound);
		put(s->slot);
		put(s->i);
		put(s->home);
		put(s->young);
		put(s->pass);
		put(s->try);
		if (has_owner_value(c->point, s)) {
			put(s->k);
			put(cid_owner_cpu(s->o) + 1);
			put(s->o == s->mm->owner[s->k]);
		} else if (c->point == CID_AT_REVERT || c->point == CID_AT_CLAIMED ||
			   c->point == CID_AT_OWNER || c->point == CID_AT_EPISODE_END ||
			   c->point == CID_AT_UNLOCK) {
			put(s->k);
		}
	}
	if (enc_len > sizeof(enc))
		die("encoding buffer too small");
}

static u64 state_hash(void)
{
	u64 h = 0x9e3779b97f4a7c15ULL + enc_len;
	unsigned int i;

	memset(enc + enc_len, 0, 8);
	for (i = 0; i < enc_len; i += 8) {
		u64 v;

		memcpy(&v, enc + i, 8);
		h = mix(h ^ v) * 0x2545f4914f6cdd1dULL + i;
	}
	h = mix(h);
	return h ? h : 1;
}

static struct set states, quiet_states;

/* ---- saved states ---- */

/* Statistics are not part of the state, but they sit in the caches. */
struct small_cache {
	u64	word[NS];
	u8	cur, hand, used;
};

struct small_mm {
	u64	gen;
	u64	owner[MAXCPU];
	unsigned int episode;
	u8	users, nr_allowed, allowed, lock, live, ready;
};

struct saved {
	struct small_cache	cache[MAXCPU];
	struct small_mm		mm[MAXMM];
	struct cpu		cpu[MAXCPU];
	u64			next_gen;
	jmp_buf			jb[MAXCPU];
	char			*sp[MAXCPU];
	u32			id;
	u32			size;
	u8			threads;
	char			stacks[];
};

static struct saved *save(u32 id)
{
	unsigned int i, size = sizeof(struct saved);
	struct saved *s;
	char *p;

	for (i = 0; i < ncpu; i++)
		size += co[i].stack + STACK - co[i].sp;
	s = malloc(size);
	if (!s)
		die("out of memory with %llu states; take fewer CPUs, mms or threads",
		    (unsigned long long)states.n);
	s->size = size;
	s->id = id;
	s->threads = w.threads;
	s->next_gen = w.next_gen;
	p = s->stacks;
	for (i = 0; i < ncpu; i++) {
		struct cid_cache *cc = &w.cache[i];
		unsigned int n = co[i].stack + STACK - co[i].sp;

		memcpy(s->cache[i].word, cc->word, sizeof(cc->word));
		s->cache[i].cur = cc->cur;
		s->cache[i].hand = cc->hand;
		s->cache[i].used = cc->used;
		s->cpu[i] = w.cpu[i];
		memcpy(s->jb[i], co[i].jb, sizeof(jmp_buf));
		s->sp[i] = co[i].sp;
		memcpy(p, co[i].sp, n);
		p += n;
	}
	for (i = 0; i < nmm; i++) {
		struct small_mm *sm = &s->mm[i];
		struct mm *mm = &w.mm[i];

		sm->live = mm->live;
		if (!mm->live)
			continue;
		sm->gen = mm->cm.gen;
		memcpy(sm->owner, mm->owner, sizeof(mm->owner));
		sm->episode = mm->cm.episode;
		sm->users = atomic_read(&mm->cm.users);
		sm->nr_allowed = mm->cm.nr_allowed;
		sm->allowed = mm->allowed[0];
		sm->lock = mm->cm.lock.locked;
		sm->ready = mm->ready;
	}
	return s;
}

static void restore(const struct saved *s)
{
	const char *p = s->stacks;
	unsigned int i;

	w.threads = s->threads;
	w.next_gen = s->next_gen;
	for (i = 0; i < ncpu; i++) {
		struct cid_cache *cc = &w.cache[i];
		unsigned int n = co[i].stack + STACK - s->sp[i];

		memcpy(cc->word, s->cache[i].word, sizeof(cc->word));
		cc->cur = s->cache[i].cur;
		cc->hand = s->cache[i].hand;
		cc->used = s->cache[i].used;
		w.cpu[i] = s->cpu[i];
		memcpy(co[i].jb, s->jb[i], sizeof(jmp_buf));
		co[i].sp = s->sp[i];
		memcpy(co[i].sp, p, n);
		p += n;
	}
	for (i = 0; i < nmm; i++) {
		const struct small_mm *sm = &s->mm[i];
		struct mm *mm = &w.mm[i];

		mm->live = sm->live;
		if (!sm->live)
			continue;
		mm->cm.gen = sm->gen;
		mm->cm.owner = sm->gen ? mm->owner : NULL;
		mm->cm.allowed = mm->allowed;
		memcpy(mm->owner, sm->owner, sizeof(mm->owner));
		mm->cm.episode = sm->episode;
		atomic_set(&mm->cm.users, sm->users);
		mm->cm.nr_allowed = sm->nr_allowed;
		mm->allowed[0] = sm->allowed;
		mm->cm.lock.locked = sm->lock;
		mm->cm.aff_lock.locked = 0;
		mm->ready = sm->ready;
	}
}

/* ---- traces ---- */

static void print_trace(u32 id)
{
	if (!id)
		return;
	print_trace(origin[id].parent);
	if (origin[id].point == POINT_QUIET)
		printf("  cpu %u: %s%s\n", origin[id].cpu, op_name[origin[id].op],
		       origin[id].op == OP_RUN ? origin[id].arg ? " (mm 1)" : " (mm 0)" : "");
	else
		printf("  cpu %u:   %s\n", origin[id].cpu, point_name[origin[id].point]);
}

/* ---- quiescent states, in the words of the model ---- */

static FILE *quiet_out;

static void note_quiescent(void)
{
	char line[256];
	unsigned int i, j, n = 0;
	u64 h = 14695981039346656037ULL;

	for (i = 0; i < ncpu; i++) {
		if (w.cpu[i].point != POINT_QUIET)
			return;
	}
	for (i = 0; i < ncpu; i++) {
		struct cid_cache *cc = &w.cache[i];

		for (j = 0; j < NS; j++) {
			u64 word = cc->word[j];
			int m = word ? mm_by_gen(cid_word_gen(word)) : 0;

			if (!word)
				n += sprintf(line + n, "- ");
			else if (m < 0)
				n += sprintf(line + n, "x ");
			else
				n += sprintf(line + n, "%d.%u%c ", m, cid_word_cid(word),
					     cid_word_state(word) == CID_RUNNING ? 'R' : 'P');
		}
		if (w.cpu[i].mm < 0)
			n += sprintf(line + n, "i| ");
		else
			n += sprintf(line + n, "%d.%d| ", w.cpu[i].mm, w.cpu[i].task.cid);
	}
	for (i = 0; i < nmm; i++) {
		struct mm *mm = &w.mm[i];

		if (!mm->live) {
			n += sprintf(line + n, "free ");
			continue;
		}
		n += sprintf(line + n, "u%d r%u m%lu o", atomic_read(&mm->cm.users), mm->ready,
			     mm->allowed[0]);
		for (j = 0; j < ncpu; j++)
			n += sprintf(line + n, "%d", cid_owner_cpu(mm->owner[j]) + 1);
		line[n++] = ' ';
		line[n] = 0;
	}
	for (i = 0; i < n; i++)
		h = (h ^ (u8)line[i]) * 1099511628211ULL;
	if (set_add(&quiet_states, mix(h) | 1))
		fprintf(quiet_out, "%s\n", line);
}

/* ---- search ---- */

static u64 transitions;
static u64 reached[CID_NR_POINTS + 1];

/* One step of CPU @i from the state @from; true if it led to an error. */
static bool one_step(struct queue *next, const struct saved *from, unsigned int i,
		     const struct action *act)
{
	unsigned int used = 0, bits = 0;

	do {
		u8 point, op, arg;

		restore(from);
		point = w.cpu[i].point;
		if (act)
			choose(i, act);
		op = w.cpu[i].act.op;
		arg = w.cpu[i].act.mm;
		choice_bits = bits;
		choice_used = 0;
		co_resume(i);
		used = choice_used;
		transitions++;
		check();
		encode();
		if (set_add(&states, state_hash())) {
			error_id = states.n - 1;
			reached[w.cpu[i].point]++;
			note_origin(states.n - 1, from->id, i, op, point, arg);
			if (quiet_out)
				note_quiescent();
			push(next, save(states.n - 1));
		} else if (error) {
			error_id = states.n;
			note_origin(error_id, from->id, i, op, point, arg);
		}
		if (error)
			return true;
		bits++;
	} while (bits < 1U << used);
	return false;
}

static bool explore_state(struct queue *next, const struct saved *s)
{
	struct action act[64];
	unsigned int i, j, n, moves = 0;

	for (i = 0; i < ncpu; i++) {
		restore(s);
		if (w.cpu[i].point != POINT_QUIET) {
			if (waits(i))
				continue;
			moves++;
			if (one_step(next, s, i, NULL))
				return true;
			continue;
		}
		n = actions(i, act);
		moves += n;
		for (j = 0; j < n; j++) {
			if (one_step(next, s, i, &act[j]))
				return true;
		}
	}
	restore(s);
	if (!moves && w.threads) {
		error = "nobody can move: deadlock";
		error_id = s->id;
		return true;
	}
	return false;
}

static void start(void)
{
	unsigned int i;

	all_cpus = BIT_MASK(ncpu) - 1;
	env.cache = cache_ptr;
	env.nr_cpus = ncpu;
	env.nr_ids = ncpu;
	env.step = step_hook;
	env.expired = expired_hook;
	env.quiet = true;
	w.next_gen = 1;
	for (i = 0; i < ncpu; i++) {
		cache_ptr[i] = &w.cache[i];
		w.cpu[i].mm = -1;
		co_start(i, cpu_main);
	}
	new_mm(0, 0);
	w.mm[0].ready = 1;
	cid_allow(&env, 0, cm(0), &all_cpus, &all_cpus, ncpu);
	atomic_set(&cm(0)->users, 1);
	w.threads = 1;
}

static void usage(void)
{
	puts("usage: cid_explore [options]\n"
	     "Run the CID cache through every interleaving on a small machine.\n"
	     "  --cpus N        CPUs and ids, 2 or 3 (2)\n"
	     "  --mms N         address spaces at a time, 1 or 2 (2)\n"
	     "  --threads N     threads at a time (3)\n"
	     "  --evict         parked words may go away at any time\n"
	     "  --affinity      an mm starts on one CPU, the rest is allowed later\n"
	     "  --policy P      free: young or expired as it comes, pack: keep 0,\n"
	     "                  stick: never expired (stick)\n"
	     "  --hints         a thread's last id may be any\n"
	     "  --max N         stop after N states\n"
	     "  --quiescent F   write the states without an operation under way to F\n"
	     "Words per CPU are set when the program is built (CID_CACHE_WORDS).\n"
	     "Exit: 0 nothing found, 1 an error and its shortest trace, 2 bad usage.");
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "cpus", 1, 0, 'c' }, { "mms", 1, 0, 'm' }, { "threads", 1, 0, 't' },
		{ "evict", 0, 0, 'e' }, { "affinity", 0, 0, 'a' }, { "policy", 1, 0, 'p' },
		{ "hints", 0, 0, 'H' }, { "max", 1, 0, 'x' }, { "quiescent", 1, 0, 'q' },
		{ "help", 0, 0, 'h' }, { }
	};
	struct queue cur = { }, next = { };
	const char *policy = "stick";
	double t0 = now(), last = t0;
	unsigned int depth = 0;
	bool bad = false;
	u64 j, peak = 0;
	int o;

	explore_prog = "cid_explore";
	while ((o = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		switch (o) {
		case 'c': ncpu = atoi(optarg); break;
		case 'm': nmm = atoi(optarg); break;
		case 't': maxt = atoi(optarg); break;
		case 'e': opt_evict = true; break;
		case 'a': opt_aff = true; break;
		case 'p': policy = optarg; break;
		case 'H': opt_hints = true; break;
		case 'x': max_states = strtoull(optarg, NULL, 0); break;
		case 'q': quiescent_file = optarg; break;
		case 'h': usage(); break;
		default: fprintf(stderr, "%s: see --help\n", explore_prog); return 2;
		}
	}
	if (ncpu < 2 || ncpu > MAXCPU || nmm < 1 || nmm > MAXMM || maxt < 1 || maxt > 9)
		die("out of range: cpus 2-%d, mms 1-%d, threads 1-9", MAXCPU, MAXMM);
	if (!strcmp(policy, "free"))
		opt_free = true;
	else if (strcmp(policy, "pack") && strcmp(policy, "stick"))
		die("no policy \"%s\": free, pack or stick", policy);
	env.keep = !strcmp(policy, "pack") ? 0 : opt_free ? 1 : CID_KEEP_FOREVER;
	if (quiescent_file) {
		quiet_out = fopen(quiescent_file, "w");
		if (!quiet_out)
			die("%s: cannot be written", quiescent_file);
	}

	start();
	check();
	encode();
	set_add(&states, state_hash());
	note_origin(0, 0, 0, 0, 0, 0);
	if (quiet_out)
		note_quiescent();
	push(&cur, save(0));
	while (cur.n && !bad && states.n < max_states) {
		peak = peak > cur.n ? peak : cur.n;
		for (j = 0; j < cur.n; j++) {
			if (!bad && states.n < max_states)
				bad = explore_state(&next, cur.v[j]);
			free(cur.v[j]);
			if (now() - last > 20) {
				last = now();
				fprintf(stderr, "depth %u, %llu states, %.0f s\n", depth,
					(unsigned long long)states.n, last - t0);
			}
		}
		cur.n = 0;
		{
			struct queue q = cur;

			cur = next;
			next = q;
		}
		depth++;
	}
	if (quiet_out && fclose(quiet_out))
		die("%s: cannot be written", quiescent_file);
	if (bad) {
		printf("ERROR: %s\n", error);
		print_trace(error_id);
	}
	printf("cpus %u mms %u slots %u threads %u%s%s policy %s%s: %llu states, %llu transitions, depth %u, %s, %s, %.1f s\n",
	       ncpu, nmm, NS, maxt, opt_evict ? " evict" : "", opt_aff ? " affinity" : "", policy,
	       opt_hints ? " hints" : "", (unsigned long long)states.n,
	       (unsigned long long)transitions, depth,
	       states.n >= max_states ? "NOT complete" : "complete", bad ? "1 error" : "0 errors",
	       now() - t0);
	for (j = 0; j < CID_NR_POINTS; j++) {
		if (!reached[j])
			printf("never at: %s\n", point_name[j]);
	}
	if (quiet_out)
		printf("%llu states without an operation under way\n",
		       (unsigned long long)quiet_states.n);
	return bad;
}
