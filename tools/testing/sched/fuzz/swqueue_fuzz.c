// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: a stream of operations, each also done on the naive model
 * of kunit/swqueue_model.h and compared after it: order of the lists, names,
 * hints, idle words, announcements, kicks, marks and every counter. At the end
 * all surplus goes, and the queue must become empty.
 */
#include "fuzz.h"
#include "swqueue_model.h"

static struct mock the_mock;
static struct mock_rq rqs[MODEL_CPUS + 2];
static struct model the_model;

static void setup(void)
{
	static const unsigned int per_core[] = { 1, 2, 3, 4 };
	unsigned int threads = per_core[input_below(NULL, 4)], i;

	memset(&the_mock, 0, sizeof(the_mock));
	memset(rqs, 0, sizeof(rqs));
	memset(&the_model, 0, sizeof(the_model));
	mock = &the_mock;
	model = &the_model;
	INIT_LIST_HEAD(&mock->dead);
	mock->nr_cpus = MODEL_CPUS;
	mock->rq = rqs;
	mock->kick = input_below(NULL, 2);
	/* The time wraps soon. */
	mock->clock = -SWQ_STALE_JIFFIES;
	mock->on_sync = model_sync;
	for (i = 0; i < ARRAY_SIZE(rqs); i++) {
		swq_cpu_init(&rqs[i].c, i);
		raw_spin_lock_init(&rqs[i].lock);
		mock_fill(i, FREE, 0, 0);
	}
	for (i = 0; i < MODEL_CPUS; i++) {
		mock->cpus[i] = i;
		mock->cores[i] = i / threads;
	}
	model_init();
	mock->l = mock_layout(1);
	for (i = 0; i < MODEL_CPUS; i++)
		rcu_assign_pointer(rqs[i].c.layout, mock->l);
	if (!model_reshard(input_below(NULL, MODEL_CPUS + 2)))
		complain("no memory");
}

static void compare(const char *op)
{
	const char *diff = model_compare();

	if (diff)
		complain("after %s: %s differs", op, diff);
}

/* Nothing waits any more, for long: whoever looks last leaves an empty queue. */
static void empty(void)
{
	struct swq_token *t;
	unsigned long flags;
	int cpu, want, round;

	for (cpu = 0; cpu < MODEL_CPUS; cpu++)
		mock_fill(cpu, FREE, 0, 0);
	/*
	 * Twice: publish=wakeup notes no time, so a token may look fresh if the
	 * clock comes by the 0 that it was initialised with.
	 */
	for (round = 0; round < 2; round++) {
		mock->clock += SWQ_STALE_JIFFIES;
		local_irq_save(flags);
		t = swq_look(mock->l, mock_cpu(0), SWQ_LOOK_LAST);
		want = model_look(0, true);
		local_irq_restore(flags);
		if (t || want >= 0)
			complain("found work where none is");
		compare("the last look");
	}
	if (swq_hinted(mock->l))
		complain("hinted at nothing");
	for (cpu = 0; cpu < MODEL_CPUS; cpu++) {
		if (mock_linked(cpu))
			complain("CPU %d is still linked", cpu);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned long flags;
	const char *op;

	input_begin(data, size);
	setup();
	while (input_left) {
		input_op++;
		if (!input_below(NULL, 32)) {
			if (!model_reshard(input_below(NULL, MODEL_CPUS + 2)))
				complain("no memory");
			compare("re-shard");
			continue;
		}
		local_irq_save(flags);
		op = model_step(input_below, NULL);
		local_irq_restore(flags);
		if (strstr(op, "other"))
			complain("%s", op);
		compare(op);
	}
	empty();
	swq_layout_free(mock->l);
	input_end();
	return 0;
}
