// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue, idle side: announce, kick, pass on.
 *
 * The core makes surplus findable by whoever looks.  This layer, where it is
 * switched on (layout->kick), sees to it that somebody looks:
 *
 *   O5  A CPU that goes idle announces itself and looks once more.
 *   O4  A publisher that sees announced CPUs kicks one of them.
 *       A kicked CPU looks again.  If it has got work of its own meanwhile it
 *       passes the kick on, so a kick is used or reaches another CPU.
 *
 * State of a CPU's idle word
 *
 *   BUSY    has work, or is not announced     self: -> IDLE  (xchg)
 *   IDLE    must be kicked                    self: -> BUSY  (xchg)
 *                                             kicker: -> KICKED (cmpxchg)
 *   KICKED  a kick is on its way              self: -> IDLE, owes a look (xchg)
 *                                             self: -> BUSY, passes it on (xchg)
 *
 * The announcement bits are lazy.  A CPU sets its bit when it goes idle and
 * finds it clear, and leaves it set when it goes back to work: a word written
 * at each idle entry and exit would be the shared word that this queue exists
 * to avoid.  So a set bit means "may be idle"; the idle word has the truth.
 */
#include <linux/kernel.h>

#include "swqueue.h"

static bool swq_kick_bit(struct swq_layout *l, struct swq_cpu *self,
			 unsigned int bit)
{
	struct swq_word *ann = &l->ann[bit / BITS_PER_LONG];
	struct swq_cpu *c;
	int cpu = l->ann_cpus[bit];

	/*
	 * The bit is taken before the idle word is tested, fully ordered.
	 * Pairs with swq_idle_enter(), which writes the word before it tests
	 * the bit: either we find IDLE, or that CPU finds its bit taken and
	 * sets it again.
	 */
	if (!test_and_clear_bit(bit % BITS_PER_LONG, &ann->bits))
		return false;

	swq_step(l, SWQ_STEP_KICK_TAKEN, NULL);
	c = l->ops->cpu(cpu);
	if (atomic_cmpxchg(&c->idle, SWQ_IDLE, SWQ_KICKED) != SWQ_IDLE)
		return false;

	l->ops->kick(cpu);
	swq_count(self, SWQ_STAT_KICKED);
	return true;
}

static bool swq_whole_core(const struct swq_layout *l, unsigned int bit,
			   unsigned long bits)
{
	const struct swq_place *p = swq_place_of(l, l->ann_cpus[bit]);
	unsigned int shift = p->core_ann % BITS_PER_LONG;
	unsigned long core = (BIT(p->core_nr) - 1) << shift;

	return (bits & core) == core;
}

/**
 * swq_kick() - make one announced CPU look (O4)
 * @l: layout to search
 * @self: CPU that runs this
 * @near: CPU to search around; it is not kicked itself
 *
 * CPUs of idle cores come first, then siblings of busy ones.  A bit that was
 * tried is clear, so each is tried once.
 *
 * Context: interrupts off; an rq lock may be held.
 * Return: true if a CPU was kicked.
 */
bool swq_kick(struct swq_layout *l, struct swq_cpu *self, int near)
{
	const struct swq_place *place = swq_place_of(l, near);
	unsigned int first = place ? place->ann / BITS_PER_LONG : 0;
	unsigned int i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < l->nr_anns; i++) {
			unsigned int word = (first + i) % l->nr_anns;
			unsigned long all = READ_ONCE(l->ann[word].bits);
			unsigned long bits = all;

			while (bits) {
				unsigned int bit = word * BITS_PER_LONG + __ffs(bits);

				bits &= bits - 1;
				if (l->ann_cpus[bit] == near ||
				    (!round && !swq_whole_core(l, bit, all)))
					continue;
				if (swq_kick_bit(l, self, bit))
					return true;
			}
		}
	}

	return false;
}

/**
 * swq_missed() - after an unlock: did a sleeper fail to get the lock?
 * @l: layout
 * @s: shard that was unlocked
 * @self: this CPU
 *
 * Context: interrupts off; an rq lock may be held.
 */
void swq_missed(struct swq_layout *l, struct swq_shard *s, struct swq_cpu *self)
{
	swq_step(l, SWQ_STEP_UNLOCKED, NULL);
	/* Orders the unlock before the note.  Pairs with swq_look_lock(). */
	smp_mb();
	if (!READ_ONCE(s->missed))
		return;

	WRITE_ONCE(s->missed, 0);
	if (READ_ONCE(s->nr))
		swq_kick(l, self, self->token.cpu);
}

/**
 * swq_idle_enter() - announce that this CPU is going to sleep (O5)
 * @l: layout of this CPU
 * @self: this CPU, without work
 *
 * Context: interrupts off.
 * Return: true if the caller owes a last look, false if nothing happened since
 * it made one.
 */
bool swq_idle_enter(struct swq_layout *l, struct swq_cpu *self)
{
	const struct swq_place *p = swq_place_of(l, self->token.cpu);
	struct swq_word *ann = &l->ann[p->ann / BITS_PER_LONG];
	unsigned int bit = p->ann % BITS_PER_LONG;

	/* Nobody but this CPU ends IDLE otherwise than by a kick. */
	if (atomic_read(&self->idle) == SWQ_IDLE)
		return false;

	/*
	 * A full barrier, as is the one after the bit is set: both words come
	 * before the hint, the lists and the counts that the last look reads.
	 * They pair with the barriers in swq_publish().
	 */
	if (atomic_xchg(&self->idle, SWQ_IDLE) == SWQ_KICKED)
		self->owe = true;

	swq_step(l, SWQ_STEP_ANNOUNCE, &self->token);
	if (!test_bit(bit, &ann->bits)) {
		set_bit(bit, &ann->bits);
		smp_mb__after_atomic();	/* bit, then last look */
	}
	swq_step(l, SWQ_STEP_ANNOUNCED, &self->token);

	return true;
}

/**
 * swq_idle_looked() - the last look is complete or brought a task
 * @self: this CPU
 *
 * Not to be called when own work cut the look short: then the kick is still
 * owed and swq_idle_exit() passes it on.
 */
void swq_idle_looked(struct swq_cpu *self)
{
	self->owe = false;
}

/**
 * swq_idle_exit() - this CPU has work again
 * @l: layout of this CPU or NULL
 * @self: this CPU
 *
 * Context: interrupts off; the own rq lock may be held.
 */
void swq_idle_exit(struct swq_layout *l, struct swq_cpu *self)
{
	int old = SWQ_BUSY;

	if (atomic_read(&self->idle) != SWQ_BUSY)
		old = atomic_xchg(&self->idle, SWQ_BUSY);

	if (old != SWQ_KICKED && !self->owe)
		return;

	self->owe = false;
	if (l && swq_kick(l, self, self->token.cpu))
		swq_count(self, SWQ_STAT_KICK_PASSED);
}
