// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of a kernel that the structure files and their suites stand on:
 * threads with a CPU number, locks that know their holder, a small RCU, memory
 * that can be refused, and warnings that are counted.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <sim.h>

#ifdef SIM_TSAN
unsigned int sim_barrier_word;
#endif
__thread unsigned long sim_full_barriers;

#define SIM_HELD_MAX	16
#define SIM_CLASSES	64
#define SIM_THREADS	1024

/* What a thread is doing, in the kernel's terms. */
struct sim_thread {
	struct task_struct	task;
	raw_spinlock_t		*held[SIM_HELD_MAX];
	unsigned int		nr_held;
	unsigned int		preempt;
	unsigned int		rcu;
	unsigned int		read_side;
	bool			irqs_off;
	bool			bug_wanted;
	int			slot;
};

static __thread struct sim_thread me = { .slot = -1 };

static void (*fail_hook)(const char *msg);
static int panicked;

/* --- messages, warnings, bugs ------------------------------------------- */

void sim_printk(const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fprintf(stderr, "# %s%s", buf, buf[0] && buf[strlen(buf) - 1] == '\n' ? "" : "\n");
}

static unsigned int warnings, warnings_wanted, test_nr = 1;

void sim_fail_hook(void (*fn)(const char *msg))
{
	fail_hook = fn;
}

void sim_expect_warnings(unsigned int n)
{
	__atomic_fetch_add(&warnings_wanted, n, __ATOMIC_RELAXED);
}

unsigned int sim_warnings(void)
{
	return READ_ONCE(warnings);
}

unsigned int sim_unexpected_warnings(void)
{
	unsigned int n = READ_ONCE(warnings), want = READ_ONCE(warnings_wanted);

	return n > want ? n - want : want - n;
}

bool sim_warn_first(unsigned int *seen)
{
	unsigned int nr = READ_ONCE(test_nr);

	return xchg(seen, nr) != nr;
}

void sim_warn(const char *file, int line, const char *fmt, ...)
{
	char buf[512], out[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	snprintf(out, sizeof(out), "WARNING: CPU: %d at %s:%d %s", sim_cpu(), file, line, buf);
	if (__atomic_add_fetch(&warnings, 1, __ATOMIC_RELAXED) <= READ_ONCE(warnings_wanted))
		return;
	sim_printk("%s", out);
	if (fail_hook)
		fail_hook(out);
}

void sim_bug(const char *file, int line, const char *fmt, ...)
{
	char buf[512], out[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (me.bug_wanted)
		pthread_exit((void *)1);
	snprintf(out, sizeof(out), "BUG: CPU: %d at %s:%d %s", sim_cpu(), file, line, buf);
	sim_printk("%s", out);
	if (fail_hook)
		fail_hook(out);
	/* Whoever waits for a lock of this thread shall not wait for ever. */
	WRITE_ONCE(panicked, 1);
	pthread_exit((void *)1);
}

struct bug_wanted {
	void (*fn)(void *arg);
	void *arg;
};

static void *bug_thread(void *p)
{
	struct bug_wanted *b = p;

	me.bug_wanted = true;
	b->fn(b->arg);
	return NULL;
}

bool sim_expect_bug(void (*fn)(void *arg), void *arg)
{
	struct bug_wanted b = { fn, arg };
	pthread_t t;
	void *ret;

	if (pthread_create(&t, NULL, bug_thread, &b))
		abort();
	pthread_join(t, &ret);
	return ret != NULL;
}

/* --- CPUs and threads ---------------------------------------------------- */

unsigned int nr_cpu_ids = 4;
struct cpumask sim_possible_mask, sim_online_mask;

unsigned int sim_online(void)
{
	return nr_cpu_ids;
}

const struct cpumask *sim_cpumask_of(unsigned int cpu)
{
	static struct cpumask one[NR_CPUS];

	__atomic_store_n(&one[cpu].bits[BIT_WORD(cpu)], BIT_MASK(cpu), __ATOMIC_RELAXED);
	return &one[cpu];
}

struct task_struct *sim_current(void)
{
	return me.task.sim_priv ?: &me.task;
}

int sim_cpu(void)
{
	return me.task.cpu;
}

void sim_set_cpu(int cpu)
{
	me.task.cpu = cpu;
}

void sim_yield(void)
{
	if (unlikely(READ_ONCE(panicked)) && !me.bug_wanted && me.slot >= 0)
		pthread_exit((void *)1);
	sched_yield();
}

struct sim_kthread {
	struct task_struct	task;
	pthread_t		thread;
	int			(*fn)(void *data);
	void			*data;
	struct completion	start;
	int			woken;
	int			stop;
	int			ret;
};

static void *kthread_main(void *p)
{
	struct sim_kthread *k = p;

	me.task.cpu = k->task.cpu;
	me.task.sim_priv = &k->task;
	wait_for_completion(&k->start);
	k->ret = -EINTR;
	if (READ_ONCE(k->woken))
		k->ret = k->fn(k->data);
	return NULL;
}

struct task_struct *sim_kthread_create(int (*fn)(void *data), void *data, int cpu,
				       const char *fmt, ...)
{
	static int pids = 1000, spread;
	struct sim_kthread *k = calloc(1, sizeof(*k));
	va_list ap;

	if (!k)
		return ERR_PTR(-ENOMEM);
	va_start(ap, fmt);
	vsnprintf(k->task.comm, sizeof(k->task.comm), fmt, ap);
	va_end(ap);
	/* Without a CPU of its own a thread gets the next one. */
	if (cpu < 0)
		cpu = __atomic_fetch_add(&spread, 1, __ATOMIC_RELAXED) % (int)nr_cpu_ids;
	k->task.cpu = cpu;
	k->task.pid = __atomic_add_fetch(&pids, 1, __ATOMIC_RELAXED);
	k->fn = fn;
	k->data = data;
	init_completion(&k->start);
	if (pthread_create(&k->thread, NULL, kthread_main, k)) {
		free(k);
		return ERR_PTR(-EAGAIN);
	}
	return &k->task;
}

int wake_up_process(struct task_struct *t)
{
	struct sim_kthread *k = container_of(t, struct sim_kthread, task);

	if (xchg(&k->woken, 1))
		return 0;
	complete(&k->start);
	return 1;
}

void kthread_bind(struct task_struct *t, unsigned int cpu)
{
	t->cpu = cpu;
}

bool kthread_should_stop(void)
{
	struct task_struct *t = sim_current();

	if (t == &me.task)
		return false;
	return smp_load_acquire(&container_of(t, struct sim_kthread, task)->stop);
}

int kthread_stop(struct task_struct *t)
{
	struct sim_kthread *k = container_of(t, struct sim_kthread, task);
	int ret;

	smp_store_release(&k->stop, 1);
	if (!READ_ONCE(k->woken))
		complete(&k->start);
	pthread_join(k->thread, NULL);
	ret = k->ret;
	free(k);
	return ret;
}

void init_completion(struct completion *x)
{
	pthread_mutex_init(&x->m, NULL);
	pthread_cond_init(&x->c, NULL);
	x->done = 0;
}

void reinit_completion(struct completion *x)
{
	pthread_mutex_lock(&x->m);
	x->done = 0;
	pthread_mutex_unlock(&x->m);
}

static void complete_n(struct completion *x, unsigned int n)
{
	pthread_mutex_lock(&x->m);
	x->done = n == UINT_MAX || x->done == UINT_MAX ? UINT_MAX : x->done + n;
	pthread_cond_broadcast(&x->c);
	pthread_mutex_unlock(&x->m);
}

void complete(struct completion *x)
{
	complete_n(x, 1);
}

void complete_all(struct completion *x)
{
	complete_n(x, UINT_MAX);
}

void wait_for_completion(struct completion *x)
{
	might_sleep();
	pthread_mutex_lock(&x->m);
	while (!x->done)
		pthread_cond_wait(&x->c, &x->m);
	if (x->done != UINT_MAX)
		x->done--;
	pthread_mutex_unlock(&x->m);
}

unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout)
{
	struct timespec ts;
	unsigned long left = 1;

	might_sleep();
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += timeout / HZ;
	ts.tv_nsec += timeout % HZ * (NSEC_PER_SEC / HZ);
	if (ts.tv_nsec >= NSEC_PER_SEC) {
		ts.tv_sec++;
		ts.tv_nsec -= NSEC_PER_SEC;
	}
	pthread_mutex_lock(&x->m);
	while (!x->done && left) {
		if (pthread_cond_timedwait(&x->c, &x->m, &ts))
			left = 0;
	}
	if (x->done) {
		left = 1;
		if (x->done != UINT_MAX)
			x->done--;
	}
	pthread_mutex_unlock(&x->m);
	return left;
}

bool try_wait_for_completion(struct completion *x)
{
	bool ok;

	pthread_mutex_lock(&x->m);
	ok = x->done;
	if (ok && x->done != UINT_MAX)
		x->done--;
	pthread_mutex_unlock(&x->m);
	return ok;
}

bool completion_done(struct completion *x)
{
	bool ok;

	pthread_mutex_lock(&x->m);
	ok = x->done;
	pthread_mutex_unlock(&x->m);
	return ok;
}

/* --- RCU ----------------------------------------------------------------- */

static struct {
	u64	period;
	int	used;
} __aligned(64) rcu_slot[SIM_THREADS];

static u64 rcu_period = 1;
static pthread_key_t slot_key;
static pthread_once_t slot_once = PTHREAD_ONCE_INIT;

static void slot_release(void *p)
{
	long slot = (long)p - 1;

	smp_store_release(&rcu_slot[slot].period, 0);
	smp_store_release(&rcu_slot[slot].used, 0);
}

static void slot_key_init(void)
{
	pthread_key_create(&slot_key, slot_release);
}

static void slot_get(void)
{
	long i;

	pthread_once(&slot_once, slot_key_init);
	for (i = 0; i < SIM_THREADS; i++) {
		if (!READ_ONCE(rcu_slot[i].used) && !xchg(&rcu_slot[i].used, 1)) {
			me.slot = i;
			pthread_setspecific(slot_key, (void *)(i + 1));
			return;
		}
	}
	fprintf(stderr, "sim: more than %d threads\n", SIM_THREADS);
	abort();
}

static void read_side_enter(void)
{
	if (me.read_side++)
		return;
	if (me.slot < 0)
		slot_get();
	__atomic_store_n(&rcu_slot[me.slot].period,
			 __atomic_load_n(&rcu_period, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
	smp_mb();
}

static void read_side_exit(void)
{
	if (!me.read_side)
		sim_bug_at("end of a read side, lock or irqs-off section that never began");
	if (!--me.read_side)
		__atomic_store_n(&rcu_slot[me.slot].period, 0, __ATOMIC_SEQ_CST);
}

void sim_rcu_read_lock(void)
{
	read_side_enter();
	me.rcu++;
}

void sim_rcu_read_unlock(void)
{
	if (!me.rcu)
		sim_bug_at("rcu_read_unlock() without rcu_read_lock()");
	me.rcu--;
	read_side_exit();
}

bool rcu_read_lock_held(void)
{
	return me.read_side != 0;
}

static void wait_for_readers(void)
{
	u64 now = __atomic_add_fetch(&rcu_period, 1, __ATOMIC_SEQ_CST), p;
	int i;

	smp_mb();
	for (i = 0; i < SIM_THREADS; i++) {
		while ((p = __atomic_load_n(&rcu_slot[i].period, __ATOMIC_SEQ_CST)) && p < now)
			sched_yield();
	}
	smp_mb();
}

void synchronize_rcu(void)
{
	if (me.read_side)
		sim_bug_at("synchronize_rcu() inside a read side waits for itself");
	wait_for_readers();
}

struct rcu_work {
	struct rcu_work		*next;
	const void		*mem;
	struct callback_head	*head;
	void			(*func)(struct callback_head *head);
};

/* Callbacks belong to a thread of their own, so that queueing never waits. */
static pthread_mutex_t rcu_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rcu_wake = PTHREAD_COND_INITIALIZER;
static pthread_cond_t rcu_done = PTHREAD_COND_INITIALIZER;
static struct rcu_work *rcu_queue, **rcu_tail = &rcu_queue;
static unsigned long rcu_pending;
static bool rcu_started;

static void *rcu_thread(void *unused)
{
	struct rcu_work *w, *next;
	unsigned long n;

	for (;;) {
		pthread_mutex_lock(&rcu_mutex);
		while (!rcu_queue)
			pthread_cond_wait(&rcu_wake, &rcu_mutex);
		w = rcu_queue;
		rcu_queue = NULL;
		rcu_tail = &rcu_queue;
		pthread_mutex_unlock(&rcu_mutex);

		wait_for_readers();
		for (n = 0; w; w = next, n++) {
			next = w->next;
			if (w->func)
				w->func(w->head);
			else
				kfree(w->mem);
			free(w);
		}
		pthread_mutex_lock(&rcu_mutex);
		rcu_pending -= n;
		pthread_cond_broadcast(&rcu_done);
		pthread_mutex_unlock(&rcu_mutex);
	}
	return unused;
}

static void rcu_enqueue(const void *mem, struct callback_head *head,
			void (*func)(struct callback_head *head))
{
	struct rcu_work *w = calloc(1, sizeof(*w));
	pthread_t t;

	if (!w)
		abort();
	w->mem = mem;
	w->head = head;
	w->func = func;
	pthread_mutex_lock(&rcu_mutex);
	if (!rcu_started) {
		rcu_started = true;
		if (pthread_create(&t, NULL, rcu_thread, NULL))
			abort();
		pthread_detach(t);
	}
	*rcu_tail = w;
	rcu_tail = &w->next;
	rcu_pending++;
	pthread_cond_signal(&rcu_wake);
	pthread_mutex_unlock(&rcu_mutex);
}

void call_rcu(struct callback_head *head, void (*func)(struct callback_head *head))
{
	rcu_enqueue(NULL, head, func);
}

void sim_kfree_rcu(const void *p)
{
	if (p)
		rcu_enqueue(p, NULL, NULL);
}

void rcu_barrier(void)
{
	if (me.read_side)
		sim_bug_at("rcu_barrier() inside a read side waits for itself");
	pthread_mutex_lock(&rcu_mutex);
	while (rcu_pending)
		pthread_cond_wait(&rcu_done, &rcu_mutex);
	pthread_mutex_unlock(&rcu_mutex);
}

/* --- preemption, interrupts, locks --------------------------------------- */

void sim_preempt_disable(void)
{
	read_side_enter();
	me.preempt++;
}

void sim_preempt_enable(void)
{
	if (!me.preempt)
		sim_bug_at("preempt_enable() without preempt_disable()");
	me.preempt--;
	read_side_exit();
}

void sim_irq_set(bool on)
{
	if (me.irqs_off == !on)
		return;
	me.irqs_off = !on;
	if (on)
		read_side_exit();
	else
		read_side_enter();
}

unsigned long sim_irq_save(void)
{
	unsigned long was_on = !me.irqs_off;

	sim_irq_set(false);
	return was_on;
}

void sim_irq_restore(unsigned long flags)
{
	WARN(!me.irqs_off, "interrupts were switched on in between");
	sim_irq_set(flags);
}

bool sim_irqs_disabled(void)
{
	return me.irqs_off;
}

bool sim_atomic_context(void)
{
	return me.irqs_off || me.preempt || me.nr_held;
}

void sim_might_sleep(const char *what)
{
	WARN(sim_atomic_context() || me.rcu, "%s: sleeping function in atomic context", what);
}

/*
 * Order of lock classes: after[a] has the classes taken while a was held. A new
 * pair that closes a cycle is a deadlock in waiting.
 */
static u64 after[SIM_CLASSES];
static unsigned int nr_classes;
static const char *class_name[SIM_CLASSES];
static pthread_mutex_t class_mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned int lock_class(raw_spinlock_t *l)
{
	struct lock_class_key *key = READ_ONCE(l->key) ?: &l->self;
	unsigned int id = READ_ONCE(key->id);

	if (likely(id))
		return id;
	pthread_mutex_lock(&class_mutex);
	if (!READ_ONCE(key->id)) {
		id = nr_classes < SIM_CLASSES - 1 ? ++nr_classes : SIM_CLASSES - 1;
		class_name[id] = l->name;
		WRITE_ONCE(key->id, id);
	}
	pthread_mutex_unlock(&class_mutex);
	return READ_ONCE(key->id);
}

static bool class_reaches(unsigned int from, unsigned int to)
{
	u64 seen = BIT_ULL(from), todo = seen;
	unsigned int c;

	while (todo) {
		c = __ffs64(todo);
		todo &= todo - 1;
		if (c == to)
			return true;
		todo |= READ_ONCE(after[c]) & ~seen;
		seen |= READ_ONCE(after[c]);
	}
	return false;
}

static void check_order(raw_spinlock_t *l, unsigned int subclass)
{
	unsigned int i, c, new = lock_class(l);

	for (i = 0; i < me.nr_held; i++) {
		c = lock_class(me.held[i]);
		if (c == new) {
			WARN(!subclass, "lock order: two locks of class %s", l->name);
			continue;
		}
		if (READ_ONCE(after[c]) & BIT_ULL(new))
			continue;
		pthread_mutex_lock(&class_mutex);
		if (!class_reaches(new, c))
			__atomic_fetch_or(&after[c], BIT_ULL(new), __ATOMIC_RELAXED);
		pthread_mutex_unlock(&class_mutex);
		WARN(!(READ_ONCE(after[c]) & BIT_ULL(new)),
		     "lock order: %s inside %s, the other way round elsewhere",
		     class_name[new], class_name[c]);
	}
}

void sim_lock_init(raw_spinlock_t *l, struct lock_class_key *key, const char *name)
{
	l->locked = 0;
	l->magic = SIM_LOCK_MAGIC;
	l->owner = NULL;
	l->key = key;
	l->self.id = 0;
	l->name = name;
}

bool sim_lock_mine(const raw_spinlock_t *l)
{
	return READ_ONCE(l->locked) && READ_ONCE(l->owner) == &me;
}

static void check_lock(raw_spinlock_t *l)
{
	if (l->magic != SIM_LOCK_MAGIC)
		sim_bug_at("lock %p was not initialised", l);
	if (sim_lock_mine(l))
		sim_bug_at("deadlock: lock %s is held by this thread already", l->name);
}

static void lock_taken(raw_spinlock_t *l)
{
	WRITE_ONCE(l->owner, &me);
	if (me.nr_held == SIM_HELD_MAX)
		sim_bug_at("more than %d locks held", SIM_HELD_MAX);
	me.held[me.nr_held++] = l;
}

void sim_lock(raw_spinlock_t *l, unsigned int subclass)
{
	check_lock(l);
	check_order(l, subclass);
	read_side_enter();
	while (__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE)) {
		while (READ_ONCE(l->locked))
			sim_yield();
	}
	lock_taken(l);
}

bool sim_trylock(raw_spinlock_t *l)
{
	if (l->magic != SIM_LOCK_MAGIC)
		sim_bug_at("lock %p was not initialised", l);
	read_side_enter();
	if (READ_ONCE(l->locked) || __atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE)) {
		read_side_exit();
		return false;
	}
	lock_taken(l);
	return true;
}

void sim_unlock(raw_spinlock_t *l)
{
	unsigned int i;

	if (!sim_lock_mine(l))
		sim_bug_at("unlock of %s, which this thread does not hold", l->name);
	for (i = me.nr_held; i--;) {
		if (me.held[i] == l)
			break;
	}
	me.nr_held--;
	for (; i < me.nr_held; i++)
		me.held[i] = me.held[i + 1];
	WRITE_ONCE(l->owner, NULL);
	__atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
	read_side_exit();
}

void mutex_init(struct mutex *m)
{
	pthread_mutex_init(&m->m, NULL);
	m->owner = NULL;
}

bool sim_mutex_mine(const struct mutex *m)
{
	return READ_ONCE(m->owner) == &me;
}

void mutex_lock(struct mutex *m)
{
	might_sleep();
	if (sim_mutex_mine(m))
		sim_bug_at("deadlock: mutex %p is held by this thread already", m);
	pthread_mutex_lock(&m->m);
	WRITE_ONCE(m->owner, &me);
}

int mutex_trylock(struct mutex *m)
{
	if (pthread_mutex_trylock(&m->m))
		return 0;
	WRITE_ONCE(m->owner, &me);
	return 1;
}

void mutex_unlock(struct mutex *m)
{
	if (!sim_mutex_mine(m))
		sim_bug_at("unlock of mutex %p, which this thread does not hold", m);
	WRITE_ONCE(m->owner, NULL);
	pthread_mutex_unlock(&m->m);
}

/* --- memory -------------------------------------------------------------- */

static long live_allocs;
static int fail_in;

void sim_fail_alloc(int n)
{
	WRITE_ONCE(fail_in, n);
}

long sim_live_allocs(void)
{
	return READ_ONCE(live_allocs);
}

static bool refuse_alloc(void)
{
	int n = READ_ONCE(fail_in);

	while (n > 0) {
		if (try_cmpxchg(&fail_in, &n, n - 1))
			return n == 1;
	}
	return false;
}

void *sim_alloc(size_t size, gfp_t gfp)
{
	size_t align;
	void *p;

	if (gfp & __GFP_DIRECT_RECLAIM)
		might_sleep();
	if (refuse_alloc() || size > 1ul << 30)
		return NULL;
	align = size ? size & -size : 8;
	align = clamp(align, (size_t)8, (size_t)4096);
	if (posix_memalign(&p, align, size ?: 1))
		return NULL;
	/* Nobody may count on zeroes that were not asked for. */
	memset(p, gfp & __GFP_ZERO ? 0 : 0xa5, size);
	__atomic_fetch_add(&live_allocs, 1, __ATOMIC_RELAXED);
	return p;
}

void *sim_realloc(const void *old, size_t size, gfp_t gfp)
{
	void *p = sim_alloc(size, gfp);

	if (p && old) {
		memcpy(p, old, min(size, malloc_usable_size((void *)old)));
		kfree(old);
	}
	return p;
}

void kfree(const void *p)
{
	if (!p)
		return;
	__atomic_fetch_sub(&live_allocs, 1, __ATOMIC_RELAXED);
	free((void *)p);
}

/* --- per-CPU data -------------------------------------------------------- */

#define DYN_STRIDE	4096

extern char __start_sim_percpu[] __weak, __stop_sim_percpu[] __weak;
static char *percpu_area;
static size_t percpu_stride;

/* Byte by byte: between the variables there may be red zones of ASan. */
__attribute__((__no_sanitize__("address")))
static void percpu_init(void)
{
	size_t size, i;
	int cpu;

	if (!__start_sim_percpu)
		return;
	size = __stop_sim_percpu - __start_sim_percpu;
	percpu_stride = ALIGN(size + 64, 64ul);
	if (posix_memalign((void **)&percpu_area, 64, percpu_stride * NR_CPUS))
		abort();
	/* Keep the alignment that the section has within a cache line. */
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		for (i = 0; i < size; i++)
			percpu_area[cpu * percpu_stride + ((long)__start_sim_percpu & 63) + i] =
				((volatile char *)__start_sim_percpu)[i];
	}
}

void *sim_per_cpu(const void *p, unsigned int cpu)
{
	const char *c = p;

	if (cpu >= NR_CPUS)
		sim_bug_at("per-CPU data of CPU %u", cpu);
	if (c >= __start_sim_percpu && c < __stop_sim_percpu)
		return percpu_area + cpu * percpu_stride + ((long)__start_sim_percpu & 63) +
		       (c - __start_sim_percpu);
	return (char *)p + (size_t)cpu * DYN_STRIDE;
}

void *sim_alloc_percpu(size_t size, size_t align)
{
	(void)align;
	if (size > DYN_STRIDE)
		return NULL;
	return sim_alloc((size_t)nr_cpu_ids * DYN_STRIDE, GFP_KERNEL | __GFP_ZERO);
}

void free_percpu(void *p)
{
	kfree(p);
}

/* --- time, chance, parameters -------------------------------------------- */

u64 ktime_get_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * (u64)NSEC_PER_SEC + ts.tv_nsec;
}

void sim_sleep_ns(unsigned long long ns)
{
	struct timespec ts = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	nanosleep(&ts, NULL);
}

/* xorshift64*: short, and good enough to choose test steps. */
u32 prandom_u32_state(struct rnd_state *st)
{
	st->s ^= st->s >> 12;
	st->s ^= st->s << 25;
	st->s ^= st->s >> 27;
	return st->s * 0x2545f4914f6cdd1dull >> 32;
}

static u64 random_base, random_count;

u64 get_random_u64(void)
{
	struct rnd_state st;
	u64 n = __atomic_add_fetch(&random_count, 1, __ATOMIC_RELAXED), r;

	prandom_seed_state(&st, READ_ONCE(random_base) + n);
	prandom_u32_state(&st);
	r = prandom_u32_state(&st);
	return r << 32 | prandom_u32_state(&st);
}

u32 get_random_u32(void)
{
	return get_random_u64();
}

void get_random_bytes(void *buf, size_t n)
{
	u8 *p = buf;

	while (n--)
		*p++ = get_random_u32();
}

static struct {
	const char	*module;
	const char	*name;
	void		*var;
	size_t		size;
} params[64];
static unsigned int nr_params;

void sim_param(const char *module, const char *name, void *var, size_t size)
{
	if (nr_params == ARRAY_SIZE(params))
		abort();
	params[nr_params].module = module;
	params[nr_params].name = name;
	params[nr_params].var = var;
	params[nr_params++].size = size;
}

static bool same_name(const char *s, size_t len, const char *name)
{
	return strlen(name) == len && !strncmp(s, name, len);
}

const char *sim_set_param(const char *assign)
{
	const char *eq = strchr(assign, '='), *dot = strchr(assign, '.'), *name = assign;
	unsigned int i, n = 0;
	char *end;
	u64 v;

	if (!eq)
		return "NAME=VALUE expected";
	if (dot && dot < eq)
		name = dot + 1;
	v = strtoll(eq + 1, &end, 0);
	if (end == eq + 1 || *end)
		return "the value is no number";
	for (i = 0; i < nr_params; i++) {
		if (!same_name(name, eq - name, params[i].name) ||
		    (name != assign && !same_name(assign, dot - assign, params[i].module)))
			continue;
		/* Little endian: the low bytes are the value. */
		memcpy(params[i].var, &v, min(sizeof(v), params[i].size));
		n++;
	}
	return n ? NULL : "no such parameter";
}

/* --- for the runner ------------------------------------------------------ */

void sim_start(unsigned int cpus, u64 seed)
{
	unsigned int cpu;

	nr_cpu_ids = cpus;
	for (cpu = 0; cpu < cpus; cpu++) {
		__set_bit(cpu, sim_possible_mask.bits);
		__set_bit(cpu, sim_online_mask.bits);
	}
	percpu_init();
	sim_new_test(seed);
}

void sim_new_test(u64 seed)
{
	WRITE_ONCE(warnings, 0);
	WRITE_ONCE(warnings_wanted, 0);
	WRITE_ONCE(panicked, 0);
	WRITE_ONCE(fail_in, 0);
	__atomic_fetch_add(&test_nr, 1, __ATOMIC_RELAXED);
	WRITE_ONCE(random_base, seed);
	WRITE_ONCE(random_count, 0);
}

/* What the calling thread still holds that it should have given back. */
int sim_leftovers(char *buf, size_t n)
{
	if (me.nr_held)
		return snprintf(buf, n, "lock %s still held", me.held[me.nr_held - 1]->name);
	if (me.irqs_off)
		return snprintf(buf, n, "interrupts still off");
	if (me.preempt)
		return snprintf(buf, n, "preemption still off");
	if (me.rcu)
		return snprintf(buf, n, "read side still open");
	return 0;
}

void sim_thread_reset(void)
{
	me.nr_held = 0;
	me.preempt = 0;
	me.rcu = 0;
	me.irqs_off = false;
	if (me.read_side) {
		me.read_side = 1;
		read_side_exit();
	}
}
