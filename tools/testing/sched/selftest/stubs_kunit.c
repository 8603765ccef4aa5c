// SPDX-License-Identifier: GPL-2.0-only
/* Does the harness see what it claims to see? A checker that is blind is worse than none. */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <sim.h>

static void del_twice(void *p)
{
	struct list_head *e = p;

	list_del(e);
	list_del(e);
}

static void add_twice(void *p)
{
	list_add_tail(p, ((struct list_head *)p)->prev);
	list_add_tail(p, p);
}

static void del_unlinked(void *p)
{
	struct list_head *e = p;

	e->next = NULL;
	e->prev = NULL;
	list_del(e);
}

static void stub_list_corruption(struct kunit *test)
{
	struct list_head e, f;
	LIST_HEAD(head);

	list_add_tail(&e, &head);
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(del_twice, &e));
	INIT_LIST_HEAD(&head);
	list_add_tail(&e, &head);
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(add_twice, &e));
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(del_unlinked, &e));
	INIT_LIST_HEAD(&head);
	list_add_tail(&e, &head);
	list_add_tail(&f, &head);
	f.prev = &head;
	KUNIT_EXPECT_TRUE(test, sim_expect_bug((void (*)(void *))list_del, &e));
}

static void stub_list(struct kunit *test)
{
	struct item { int v; struct list_head node; } it[5], *p, *n;
	LIST_HEAD(head);
	int i, sum = 0;

	for (i = 0; i < 5; i++) {
		it[i].v = i;
		list_add_tail(&it[i].node, &head);
	}
	list_move_tail(&it[0].node, &head);
	KUNIT_EXPECT_EQ(test, list_first_entry(&head, struct item, node)->v, 1);
	KUNIT_EXPECT_EQ(test, list_last_entry(&head, struct item, node)->v, 0);
	KUNIT_EXPECT_EQ(test, list_count_nodes(&head), 5ul);
	list_for_each_entry_safe(p, n, &head, node) {
		sum = 10 * sum + p->v;
		list_del(&p->node);
	}
	KUNIT_EXPECT_EQ(test, sum, 12340);
	KUNIT_EXPECT_TRUE(test, list_empty(&head));
}

static raw_spinlock_t lock_a, lock_b;

static void locks_init(void)
{
	raw_spin_lock_init(&lock_a);
	raw_spin_lock_init(&lock_b);
}

static void take_twice(void *l)
{
	raw_spin_lock(l);
	raw_spin_lock(l);
}

static void unlock_foreign(void *l)
{
	raw_spin_unlock(l);
}

static void use_uninitialised(void *unused)
{
	raw_spinlock_t l;

	(void)unused;
	memset(&l, 0, sizeof(l));
	raw_spin_lock(&l);
}

static void stub_lock_checks(struct kunit *test)
{
	unsigned long flags;

	locks_init();
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(take_twice, &lock_a));
	locks_init();
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(unlock_foreign, &lock_a));
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(use_uninitialised, NULL));

	sim_expect_warnings(1);
	lockdep_assert_held(&lock_a);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1u);
	raw_spin_lock_irqsave(&lock_a, flags);
	lockdep_assert_held(&lock_a);
	lockdep_assert_irqs_disabled();
	KUNIT_EXPECT_TRUE(test, raw_spin_is_locked(&lock_a));
	raw_spin_unlock_irqrestore(&lock_a, flags);
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&lock_a));
	scoped_guard(raw_spinlock_irqsave, &lock_a)
		lockdep_assert_held(&lock_a);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void stub_lock_order(struct kunit *test)
{
	static struct lock_class_key same;

	locks_init();
	raw_spin_lock(&lock_a);
	raw_spin_lock(&lock_b);
	raw_spin_unlock(&lock_b);
	raw_spin_unlock(&lock_a);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 0u);
	sim_expect_warnings(1);
	raw_spin_lock(&lock_b);
	raw_spin_lock(&lock_a);
	raw_spin_unlock(&lock_a);
	raw_spin_unlock(&lock_b);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1u);

	/* Two of one class, too, unless they say so. */
	lockdep_set_class(&lock_a, &same);
	lockdep_set_class(&lock_b, &same);
	raw_spin_lock(&lock_a);
	raw_spin_lock_nested(&lock_b, SINGLE_DEPTH_NESTING);
	raw_spin_unlock(&lock_b);
	sim_expect_warnings(1);
	raw_spin_lock(&lock_b);
	raw_spin_unlock(&lock_b);
	raw_spin_unlock(&lock_a);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 2u);
}

static void stub_warnings(struct kunit *test)
{
	int i;

	sim_expect_warnings(4);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, WARN_ON(true));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, WARN_ON_ONCE(true));
	KUNIT_EXPECT_FALSE(test, WARN_ON(false));
	KUNIT_EXPECT_EQ(test, sim_warnings(), 4u);
	/* Sleeping where it must not is one, too. */
	sim_expect_warnings(1);
	preempt_disable();
	kfree(kmalloc(1, GFP_KERNEL));
	kfree(kmalloc(1, GFP_ATOMIC));
	preempt_enable();
	KUNIT_EXPECT_EQ(test, sim_warnings(), 5u);
}

static void sync_inside(void *unused)
{
	(void)unused;
	rcu_read_lock();
	synchronize_rcu();
}

static void rcu_unbalanced(void *unused)
{
	(void)unused;
	rcu_read_unlock();
}

static int *rcu_ptr;

static int rcu_reader(void *unused)
{
	int *p;

	while (!kthread_should_stop()) {
		unsigned long flags;

		local_irq_save(flags);
		p = rcu_dereference_sched(rcu_ptr);
		if (*p != 42)
			return -EINVAL;
		cpu_relax();
		if (*p != 42)
			return -EINVAL;
		local_irq_restore(flags);
	}
	return unused != NULL;
}

static void stub_rcu(struct kunit *test)
{
	struct task_struct *t[3];
	int i, *p, *old;

	KUNIT_EXPECT_TRUE(test, sim_expect_bug(sync_inside, NULL));
	KUNIT_EXPECT_TRUE(test, sim_expect_bug(rcu_unbalanced, NULL));

	rcu_ptr = kzalloc(sizeof(*p), GFP_KERNEL);
	*rcu_ptr = 42;
	for (i = 0; i < 3; i++) {
		t[i] = kthread_run(rcu_reader, NULL, "reader/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(t[i]));
	}
	for (i = 0; i < 200; i++) {
		p = kzalloc(sizeof(*p), GFP_KERNEL);
		*p = 42;
		old = rcu_replace_pointer(rcu_ptr, p, 1);
		if (i % 2) {
			kfree_rcu_mightsleep(old);
		} else {
			synchronize_rcu();
			*old = 0;
			kfree(old);
		}
	}
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(t[i]), 0);
	kfree(rcu_ptr);
}

static DEFINE_PER_CPU(unsigned long, counter) = 7;

static int count_up(void *arg)
{
	unsigned long *shared = arg;
	int i;

	for (i = 0; i < 10000; i++) {
		this_cpu_inc(counter);
		raw_spin_lock(&lock_a);
		++*shared;
		raw_spin_unlock(&lock_a);
	}
	return smp_processor_id();
}

static void stub_threads(struct kunit *test)
{
	unsigned long shared = 0, sum = 0;
	struct task_struct *t[4];
	unsigned int i, cpu;

	locks_init();
	for (i = 0; i < 4; i++)
		t[i] = kthread_run_on_cpu(count_up, &shared, i % nr_cpu_ids, "count/%u");
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, kthread_stop(t[i]), (int)(i % nr_cpu_ids));
	KUNIT_EXPECT_EQ(test, shared, 40000ul);
	for_each_possible_cpu(cpu) {
		sum += per_cpu(counter, cpu) - 7;
		per_cpu(counter, cpu) = 7;
	}
	KUNIT_EXPECT_EQ(test, sum, 40000ul);
	/* Stopped before it was woken: its function never ran. */
	t[0] = kthread_create(count_up, &shared, "never");
	KUNIT_EXPECT_EQ(test, kthread_stop(t[0]), -EINTR);
}

static void stub_bits(struct kunit *test)
{
	DECLARE_BITMAP(map, 130);
	unsigned int bit, n = 0;

	bitmap_zero(map, 130);
	set_bit(0, map);
	set_bit(63, map);
	set_bit(64, map);
	KUNIT_EXPECT_FALSE(test, test_and_set_bit(129, map));
	KUNIT_EXPECT_TRUE(test, test_and_set_bit(129, map));
	for_each_set_bit(bit, map, 130)
		n = n * 131 + bit;
	KUNIT_EXPECT_EQ(test, n, (63u * 131 + 64) * 131 + 129);
	KUNIT_EXPECT_EQ(test, bitmap_weight(map, 129), 3u);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(63, map));
	KUNIT_EXPECT_EQ(test, find_next_bit(map, 130, 1), 64ul);
	KUNIT_EXPECT_EQ(test, find_first_zero_bit(map, 130), 1ul);
	KUNIT_EXPECT_EQ(test, __ffs(0x50ul), 4ul);
	KUNIT_EXPECT_EQ(test, fls(0x50), 7);
	KUNIT_EXPECT_EQ(test, GENMASK(5, 3), 0x38ul);
}

static void stub_atomics(struct kunit *test)
{
	atomic_t a = ATOMIC_INIT(3);
	unsigned int w = 5, old = 4;

	KUNIT_EXPECT_EQ(test, atomic_dec_return_release(&a), 2);
	KUNIT_EXPECT_EQ(test, atomic_cmpxchg(&a, 1, 9), 2);
	KUNIT_EXPECT_EQ(test, atomic_cmpxchg(&a, 2, 9), 2);
	KUNIT_EXPECT_EQ(test, atomic_xchg(&a, 1), 9);
	KUNIT_EXPECT_TRUE(test, atomic_dec_and_test(&a));
	KUNIT_EXPECT_FALSE(test, atomic_inc_not_zero(&a));
	KUNIT_EXPECT_FALSE(test, try_cmpxchg(&w, &old, 6u));
	KUNIT_EXPECT_EQ(test, old, 5u);
	KUNIT_EXPECT_TRUE(test, try_cmpxchg(&w, &old, 6u));
	KUNIT_EXPECT_EQ(test, xchg(&w, 7u), 6u);
	KUNIT_EXPECT_EQ(test, cmpxchg_acquire(&w, 7u, 8u), 7u);
}

static void stub_memory(struct kunit *test)
{
	long before = sim_live_allocs();
	unsigned char *p;

	sim_fail_alloc(2);
	p = kmalloc(192, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_EQ(test, p[191], 0xa5);
	KUNIT_EXPECT_EQ(test, (unsigned long)p % 64, 0ul);
	KUNIT_EXPECT_EQ(test, sim_live_allocs(), before + 1);
	kfree(p);
	KUNIT_EXPECT_NULL(test, kzalloc(1, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, kcalloc(SIZE_MAX, 2, GFP_KERNEL));
	KUNIT_EXPECT_NOT_NULL(test, kunit_kzalloc(test, 64, GFP_KERNEL));
}

static int order;

static void action(void *n)
{
	order = order * 10 + (int)(long)n;
}

static void stub_actions(struct kunit *test)
{
	order = 0;
	KUNIT_EXPECT_EQ(test, kunit_add_action(test, action, (void *)1), 0);
	KUNIT_EXPECT_EQ(test, kunit_add_action(test, action, (void *)2), 0);
	KUNIT_EXPECT_EQ(test, kunit_add_action(test, action, (void *)3), 0);
	kunit_release_action(test, action, (void *)2);
	KUNIT_EXPECT_EQ(test, order, 2);
}

static void stub_actions_ran_in_reverse(struct kunit *test)
{
	if (!order)
		kunit_skip(test, "the case before did not run");
	KUNIT_EXPECT_EQ(test, order, 231);
}

static void stub_skip(struct kunit *test)
{
	kunit_skip(test, "as it should");
	KUNIT_FAIL(test, "went on after the skip");
}

static void stub_seeded_random(struct kunit *test)
{
	struct rnd_state a, b;
	int i, same = 0;

	prandom_seed_state(&a, 1);
	prandom_seed_state(&b, 2);
	for (i = 0; i < 1000; i++)
		same += prandom_u32_state(&a) == prandom_u32_state(&b);
	KUNIT_EXPECT_LT(test, same, 3);
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_LT(test, get_random_u32_below(10), 10u);
}

struct pair { const char *name; int a, b; };
static struct pair pairs[] = { { "one", 1, 1 }, { "two", 2, 4 }, { "three", 3, 9 } };
KUNIT_ARRAY_PARAM_DESC(pair, pairs, name);

static void stub_params(struct kunit *test)
{
	const struct pair *p = test->param_value;

	KUNIT_EXPECT_EQ(test, p->a * p->a, p->b);
}

static void stub_misc(struct kunit *test)
{
	static DEFINE_STATIC_KEY_FALSE(key);
	static DEFINE_MUTEX(m);
	char buf[4];

	KUNIT_EXPECT_FALSE(test, static_branch_unlikely(&key));
	static_branch_enable(&key);
	KUNIT_EXPECT_TRUE(test, static_branch_unlikely(&key));
	static_branch_disable(&key);
	mutex_lock(&m);
	lockdep_assert_held(&m);
	mutex_unlock(&m);
	KUNIT_EXPECT_EQ(test, strscpy(buf, "abcdef"), -7);
	KUNIT_EXPECT_STREQ(test, buf, "abc");
	KUNIT_EXPECT_EQ(test, scnprintf(buf, sizeof(buf), "%d", 12345), 3);
	KUNIT_EXPECT_EQ(test, clamp(9, 1, 5), 5);
	KUNIT_EXPECT_EQ(test, roundup_pow_of_two(65), 128ul);
	KUNIT_EXPECT_EQ(test, IS_ENABLED(CONFIG_SMP), 1);
	KUNIT_EXPECT_EQ(test, IS_ENABLED(CONFIG_NO_SUCH_OPTION), 0);
}

static struct kunit_case stub_cases[] = {
	KUNIT_CASE(stub_list),
	KUNIT_CASE(stub_list_corruption),
	KUNIT_CASE(stub_lock_checks),
	KUNIT_CASE(stub_lock_order),
	KUNIT_CASE(stub_warnings),
	KUNIT_CASE(stub_rcu),
	KUNIT_CASE(stub_threads),
	KUNIT_CASE(stub_bits),
	KUNIT_CASE(stub_atomics),
	KUNIT_CASE(stub_memory),
	KUNIT_CASE(stub_actions),
	KUNIT_CASE(stub_actions_ran_in_reverse),
	KUNIT_CASE(stub_skip),
	KUNIT_CASE(stub_seeded_random),
	KUNIT_CASE_PARAM(stub_params, pair_gen_params),
	KUNIT_CASE(stub_misc),
	{}
};

static struct kunit_suite stub_suite = {
	.name = "harness",
	.test_cases = stub_cases,
};
kunit_test_suite(stub_suite);

/*
 * A suite of cases that must fail, each in its way; test-harness runs them one
 * by one and wants to see red.
 */
static void red_expect(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1, 2);
}

static void red_assert(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, false);
	kunit_mark_skipped(test, "went on after a failed assertion");
}

static void red_warn(struct kunit *test)
{
	WARN_ON_ONCE(!test->priv);
}

static void red_missing_warning(struct kunit *test)
{
	sim_expect_warnings(test->priv ? 0 : 1);
}

static void red_bug(struct kunit *test)
{
	BUG_ON(!test->priv);
}

static void red_leak(struct kunit *test)
{
	test->priv = kmalloc(8, GFP_KERNEL);
	test->priv = NULL;
}

static void red_lock_held(struct kunit *test)
{
	(void)test;
	locks_init();
	raw_spin_lock(&lock_a);
}

static void red_irqs_off(struct kunit *test)
{
	(void)test;
	local_irq_disable();
}

static unsigned long racy;

static int race(void *unused)
{
	int i;

	for (i = 0; i < 100000; i++)
		racy++;
	return unused != NULL;
}

static void red_race(struct kunit *test)
{
	struct task_struct *t;

	if (!IS_ENABLED(SIM_TSAN))
		KUNIT_FAIL(test, "only seen by TSan");
	t = kthread_run(race, NULL, "race");
	race(NULL);
	kthread_stop(t);
}

static void red_use_after_free(struct kunit *test)
{
	volatile char *p = kmalloc(8, GFP_KERNEL);

	kfree((void *)p);
	p[1] = 0;
	KUNIT_FAIL(test, "only seen by a sanitizer");
}

static struct kunit_case red_cases[] = {
	KUNIT_CASE(red_expect),
	KUNIT_CASE(red_assert),
	KUNIT_CASE(red_warn),
	KUNIT_CASE(red_missing_warning),
	KUNIT_CASE(red_bug),
	KUNIT_CASE(red_leak),
	KUNIT_CASE(red_lock_held),
	KUNIT_CASE(red_irqs_off),
	KUNIT_CASE(red_race),
	KUNIT_CASE(red_use_after_free),
	{}
};

static struct kunit_suite red_suite = {
	.name = "red",
	.test_cases = red_cases,
};
kunit_test_suite(red_suite);
