// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the concurrency ids that threads of this process are given.
 *
 *   cidprobe wander SLEEPERS WANDERERS MS
 *	Threads that sleep all the time, and others that run and move to a
 *	random CPU again and again.  Prints the highest id a wanderer had after
 *	the first quarter of the time.
 *   cidprobe pool THREADS RUNNING MS
 *	Threads that take turns: of THREADS at most RUNNING have something to do
 *	at a time.  Prints the highest id after the first quarter of the time, how
 *	often a thread had an id that its CPU had not used last, and turns.
 *   cidprobe storm THREADS MS
 *	Threads are created and joined, up to THREADS at a time, while they move;
 *	some of them call execve, which fails, and some fork a child that execs.
 *	Prints how many came and went and the highest id.
 *   cidprobe shrink MS
 *	A thread on each CPU, all at work, until each has had an id; then all but
 *	the one with the highest id exit.  Prints that one's id after MS.
 *   cidprobe bursts GAP_MS BURSTS
 *	A thread tied to each CPU; one at a time has something to do, with gaps
 *	between.  Prints how often a CPU saw another id than the time before,
 *	and the highest id.
 *   cidprobe preempt MS
 *	Two threads on one CPU.  Each loss of the CPU must abort the restartable
 *	sequence and rewrite the fields of struct rseq, whether the id changes
 *	or not: allocators rely on that.  Prints aborts and rewrites.
 *   cidprobe worker MS
 *	A process with one thread and an io_uring with a kernel thread of its
 *	own: that one is no user of ids, so the id stays 0.
 *   cidprobe same
 *	Two threads that wander mark the same slot, as if both had one id: the
 *	check itself must see that.  Exit status 1 is the right one here.
 *
 * Every id is checked: never negative, below the number of threads there ever
 * were at a time, and below the number of CPUs.  The bound may shrink while a
 * thread runs, so the largest number of threads is what counts here.
 *
 * That no other running thread has the id is checked by marking its slot inside
 * a restartable sequence and looking at it for a while: the kernel aborts the
 * sequence when the thread loses its CPU, so whoever still is inside and finds a
 * foreign mark, or another id of its own, has seen two threads run with one id,
 * or an id that changed under a running thread.
 *
 * Exit: 0 all ids are right, 1 an id is wrong (it is named), 2 it can't be told.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/io_uring.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Places in the kernel's struct rseq, of which glibc's knows no mm_cid. */
#define RSEQ_CS_OFFSET	8
#define MM_CID_OFFSET	24

#define MAX_IDS		8192

/* How often a mark is looked at: a few microseconds, more under an emulator. */
#define LOOKS		500

struct slot {
	int32_t	mark;
} __attribute__((aligned(64)));

static struct slot slots[MAX_IDS];
static long cpus, bound;
static bool same;
static atomic_int highest = -1;
static atomic_bool stop;
static atomic_long finished, marked, marks, arrived;
static __thread int32_t self;

/* From when until when an id counts towards the highest, as ms_now(). */
static _Atomic double counted_from = HUGE_VAL, counted_until = HUGE_VAL;

static void die(const char *what)
{
	fprintf(stderr, "cidprobe: %s: %s\n", what, strerror(errno));
	_exit(2);
}

static void wrong(const char *what, int32_t id)
{
	printf("id %d: %s\n", id, what);
	fflush(stdout);
	_exit(1);
}

static double ms_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static char *area(void)
{
	return (char *)__builtin_thread_pointer() + __rseq_offset;
}

static int32_t own_id(void)
{
	return *(volatile int32_t *)(area() + MM_CID_OFFSET);
}

static void check_bounds(int32_t id)
{
	if (id < 0 || id >= bound) {
		printf("id %d is not in 0..%ld\n", id, bound - 1);
		fflush(stdout);
		_exit(1);
	}
}

enum seen { ALONE, PREEMPTED, SHARED, CHANGED };

/*
 * Mark the slot of the own id and watch both for a while.  One restartable
 * sequence, from the read of the id to the last look.
 */
static enum seen watch(long looks)
{
	int32_t *slot = &slots[0].mark;
	/* An id that is out of bounds may not become an index. */
	uint64_t limit = MAX_IDS;

	asm volatile goto(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"1:\n\t"
		".long 0, 0\n\t"
		".quad 2f, 3f - 2f, 4f\n\t"
		".popsection\n\t"
		".pushsection __rseq_abort, \"ax\"\n\t"
		/* An undefined instruction whose operand is the signature. */
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[signature]\n"
		"4:\n\t"
		"jmp %l[preempted]\n\t"
		".popsection\n\t"
		"leaq 1b(%%rip), %%rax\n\t"
		"movq %%rax, %c[cs](%[area])\n"
		"2:\n\t"
		"movslq %c[cid](%[area]), %%rax\n\t"
		"movq %%rax, %%rdx\n\t"
		"cmpq %[limit], %%rax\n\t"
		"jae %l[changed]\n\t"
		"testl %[same], %[same]\n\t"
		"jz 5f\n\t"
		"xorl %%eax, %%eax\n"
		"5:\n\t"
		"shlq $6, %%rax\n\t"
		"addq %[slot], %%rax\n\t"
		"movl %[self], (%%rax)\n\t"
		"movq %[looks], %%rcx\n"
		"6:\n\t"
		"cmpl %[self], (%%rax)\n\t"
		"jne %l[shared]\n\t"
		"cmpl %%edx, %c[cid](%[area])\n\t"
		"jne %l[changed]\n\t"
		"decq %%rcx\n\t"
		"jnz 6b\n"
		"3:\n\t"
		: /* no outputs */
		: [area] "r" (area()), [slot] "r" (slot), [self] "r" (self),
		  [looks] "r" (looks), [limit] "r" (limit), [same] "r" ((int)same),
		  [cs] "i" (RSEQ_CS_OFFSET), [cid] "i" (MM_CID_OFFSET),
		  [signature] "i" (RSEQ_SIG)
		: "rax", "rcx", "rdx", "cc", "memory"
		: preempted, shared, changed);
	return ALONE;
preempted:
	return PREEMPTED;
shared:
	return SHARED;
changed:
	return CHANGED;
}

/* No two threads of this process have one name. */
static void name_self(void)
{
	static atomic_int last;

	self = ++last;
}

/* All of the time from @before, as ms_now() told it, until now. */
static bool counts(double before)
{
	return before >= counted_from && ms_now() < counted_until;
}

/* One look at the own id: in bounds, and nobody else's. */
static int32_t look(void)
{
	double before = ms_now();
	int32_t id = own_id();
	int old;

	check_bounds(id);
	if (!self)
		name_self();
	switch (watch(LOOKS)) {
	case SHARED:
		wrong("another running thread has it", id);
		break;
	case CHANGED:
		wrong("it changed while its thread was running", id);
		break;
	case ALONE:
		marked++;
		break;
	case PREEMPTED:
		break;
	}
	marks++;
	if (counts(before)) {
		old = highest;
		while (id > old && !atomic_compare_exchange_weak(&highest, &old, id))
			;
	}
	return id;
}

static void move(unsigned int *seed)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(rand_r(seed) % cpus, &set);
	/* The CPU may be off line at the moment, or in another cpuset. */
	if (sched_setaffinity(0, sizeof(set), &set) && errno != EINVAL)
		die("sched_setaffinity");
	if (rand_r(seed) % 4 == 0) {
		for (int cpu = 0; cpu < cpus; cpu++)
			CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) && errno != EINVAL)
			die("sched_setaffinity");
	}
}

static void *sleeper(void *unused)
{
	(void)unused;
	look();
	arrived++;
	while (!stop)
		usleep(3600 * 1000000U);
	return NULL;
}

static void *wanderer(void *number)
{
	unsigned int seed = (uintptr_t)number;

	while (!stop) {
		move(&seed);
		for (int i = 0; i < 20; i++)
			look();
		if (rand_r(&seed) % 8 == 0)
			usleep(500);
	}
	return NULL;
}

static sem_t turns;
static atomic_int last_id[MAX_IDS];
static atomic_long taken, moved;

/* Whose turn it is looks, works, sleeps a little with the turn and gives it on. */
static void *member(void *number)
{
	unsigned int seed = (uintptr_t)number;

	while (!stop) {
		double before;
		int32_t id;
		int cpu;

		sem_wait(&turns);
		before = ms_now();
		id = look();
		cpu = sched_getcpu();
		if (cpu >= 0 && cpu < MAX_IDS && counts(before)) {
			taken++;
			if (atomic_exchange(&last_id[cpu], id + 1) != id + 1)
				moved++;
		}
		look();
		if (rand_r(&seed) % 2)
			usleep(200);
		sem_post(&turns);
		if (rand_r(&seed) % 4 == 0)
			usleep(1000);
	}
	return NULL;
}

static void *visitor(void *number)
{
	static char *const args[] = { "true", NULL };
	unsigned int seed = (uintptr_t)number;

	look();
	move(&seed);
	for (int i = 0; i < 5; i++)
		look();
	if (rand_r(&seed) % 8 == 0) {
		execv("/no/such/program", args);
		look();
	}
	if (rand_r(&seed) % 16 == 0) {
		pid_t child = vfork();

		if (!child) {
			execv("/bin/true", args);
			_exit(127);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
		look();
	}
	sched_yield();
	look();
	finished++;
	return NULL;
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* One word per CPU: what the thread there is asked to do, and what it saw. */
static struct { sem_t go, done; int32_t id; pid_t tid; } __attribute__((aligned(64))) bursts[MAX_IDS];

static void *burster(void *number)
{
	long cpu = (uintptr_t)number;

	pin(cpu);
	bursts[cpu].tid = gettid();
	for (;;) {
		sem_post(&bursts[cpu].done);
		sem_wait(&bursts[cpu].go);
		bursts[cpu].id = look();
	}
	return NULL;
}

static atomic_long aborts, rewrites;

/* Not an id of a CPU; the kernel puts the right one back. */
#define NO_CPU	0x7fff0001

static void *rival(void *unused)
{
	(void)unused;
	pin(0);
	while (!stop) {
		volatile uint32_t *cpu_id_start = (void *)area();
		enum seen seen;

		*cpu_id_start = NO_CPU;
		/* Longer than a tick, so it seldom gets to its end. */
		seen = watch(20 * 1000 * 1000);
		if (seen == SHARED)
			wrong("another running thread has it", own_id());
		if (seen == CHANGED)
			wrong("it changed while its thread was running", own_id());
		if (seen != PREEMPTED)
			continue;
		aborts++;
		if (*cpu_id_start == 0)
			rewrites++;
		else
			wrong("cpu_id_start was not rewritten when the CPU was lost", own_id());
		check_bounds(own_id());
		marked++;
	}
	return NULL;
}

static pthread_t start(void *(*function)(void *), uintptr_t number)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	errno = pthread_create(&thread, &attr, function, (void *)number);
	if (errno)
		die("pthread_create");
	return thread;
}

static long least(long a, long b)
{
	return a < b ? a : b;
}

/*
 * Threads are up; let them settle, then count.  This thread has an id while it
 * is awake, and may be kept awake by a CPU that does not run, as virtual ones
 * do; so it sleeps through all of the time that counts, and some more.
 */
static void observe(double ms)
{
	double now = ms_now();

	counted_until = now + ms;
	counted_from = now + ms / 4;
	usleep((ms + 250) * 1000);
}

static void done(void)
{
	/* A check that never got to its end has checked nothing. */
	if (!marked)
		wrong("no mark was watched to the end", -1);
	fflush(stdout);
	_exit(0);
}

/* How often a thread of this process, alive or gone, lost its CPU. */
static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die("getrusage");
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void wander(long sleepers, long wanderers, double ms)
{
	/* What "same" looks for is sharing, and 6.12's own ids may be higher. */
	bound = same ? cpus : least(1 + sleepers + wanderers, cpus);
	for (long i = 0; i < sleepers; i++)
		start(sleeper, 0);
	while (arrived < sleepers)
		usleep(1000);
	for (long i = 0; i < wanderers; i++)
		start(wanderer, i + 1);
	observe(ms);
	printf("highest %d marks %ld watched %ld switches %ld\n", highest, marks, marked, switches());
	done();
}

static void pool(long threads, long running, double ms)
{
	bound = least(1 + threads, cpus);
	sem_init(&turns, 0, running);
	for (long i = 0; i < threads; i++)
		start(member, i + 1);
	observe(ms);
	printf("highest %d moved %ld turns %ld switches %ld\n", highest, moved, taken, switches());
	done();
}

static void storm(long threads, double ms)
{
	double end = ms_now() + ms;
	unsigned int seed = 1;

	counted_from = 0;
	/* A vfork child is one more user of the mm for a moment, for each thread. */
	bound = least(1 + 2 * threads, cpus);
	while (ms_now() < end) {
		long n = 1 + rand_r(&seed) % threads;
		pthread_t thread[n];

		for (long i = 0; i < n; i++)
			thread[i] = start(visitor, rand_r(&seed));
		for (long i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		look();
	}
	printf("threads %ld highest %d marks %ld watched %ld\n", finished, highest, marks, marked);
	done();
}

static atomic_int survivor = -1, left = -1;

/* All run at once, so that all ids are in use; then only the highest stays. */
static void *worker(void *unused)
{
	int32_t id;

	(void)unused;
	arrived++;
	while (arrived < cpus)
		look();
	id = look();
	for (int i = 0; i < 200; i++) {
		int old = survivor;

		id = look();
		while (id > old && !atomic_compare_exchange_weak(&survivor, &old, id))
			;
	}
	arrived++;
	while (arrived < 2 * cpus)
		sched_yield();
	if (survivor != id)
		return NULL;
	while (!stop) {
		double before = ms_now();

		id = look();
		if (counts(before))
			left = id;
		usleep(1000);
	}
	return NULL;
}

static void shrink(double ms)
{
	bound = cpus;
	for (long i = 0; i < cpus; i++)
		start(worker, 0);
	while (arrived < 2 * cpus)
		usleep(1000);
	observe(ms);
	printf("from %d to %d\n", survivor, left);
	done();
}

/* How often a thread of this process gave up its CPU of its own accord. */
static long naps(pid_t tid)
{
	char name[64], line[128];
	long count = -1;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/status", tid);
	file = fopen(name, "r");
	if (!file)
		die(name);
	while (fgets(line, sizeof(line), file) && sscanf(line, "voluntary_ctxt_switches: %ld", &count) != 1)
		;
	fclose(file);
	if (count < 0)
		die("no voluntary_ctxt_switches");
	return count;
}

static void burst(double gap, long count)
{
	long changes = 0;
	unsigned int seed = 1;
	int32_t *before = calloc(cpus, sizeof(*before));

	if (!before)
		die("calloc");
	bound = least(1 + cpus, cpus);
	counted_from = 0;
	for (long cpu = 0; cpu < cpus; cpu++) {
		sem_init(&bursts[cpu].go, 0, 0);
		sem_init(&bursts[cpu].done, 0, 0);
		start(burster, cpu);
		sem_wait(&bursts[cpu].done);
	}
	for (long i = -2 * cpus; i < count; i++) {
		/*
		 * Twice around before it counts: until each CPU has an id, this
		 * thread may take one along to where it runs.
		 */
		long cpu = i < 0 ? (i + 2 * cpus) % cpus : rand_r(&seed) % cpus;
		long before_go = naps(bursts[cpu].tid);

		sem_post(&bursts[cpu].go);
		sem_wait(&bursts[cpu].done);
		/* Done is not yet asleep, and the next one must be alone. */
		while (naps(bursts[cpu].tid) == before_go)
			usleep(1000);
		changes += i >= 0 && before[cpu] != bursts[cpu].id;
		before[cpu] = bursts[cpu].id;
		usleep(gap * 1000);
	}
	printf("changes %ld of %ld highest %d\n", changes, count, highest);
	done();
}

static void preempt(double ms)
{
	bound = least(3, cpus);
	start(rival, 0);
	start(rival, 0);
	usleep(ms * 1000);
	printf("aborts %ld rewrites %ld\n", aborts, rewrites);
	if (aborts < 10)
		wrong("a restartable sequence was not aborted when the CPU was lost", -1);
	done();
}

static void worker_thread(double ms)
{
	double end = ms_now() + ms;
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = 3600 * 1000,
	};

	if (syscall(__NR_io_uring_setup, 8, &params) < 0)
		die("io_uring_setup");
	bound = 1;
	counted_from = 0;
	while (ms_now() < end) {
		unsigned int seed = ms_now();

		move(&seed);
		look();
		usleep(200);
	}
	printf("highest %d\n", highest);
	done();
}

int main(int argc, char **argv)
{
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (!__rseq_size) {
		fputs("cidprobe: this C library has registered no rseq area\n", stderr);
		return 2;
	}
	if (cpus > MAX_IDS) {
		fprintf(stderr, "cidprobe: %ld CPUs are more than %d\n", cpus, MAX_IDS);
		return 2;
	}
	if (argc == 5 && !strcmp(argv[1], "wander")) {
		wander(atol(argv[2]), atol(argv[3]), atof(argv[4]));
	} else if (argc == 5 && !strcmp(argv[1], "pool")) {
		pool(atol(argv[2]), atol(argv[3]), atof(argv[4]));
	} else if (argc == 4 && !strcmp(argv[1], "storm") && atol(argv[2]) > 0) {
		storm(atol(argv[2]), atof(argv[3]));
	} else if (argc == 3 && !strcmp(argv[1], "shrink")) {
		shrink(atof(argv[2]));
	} else if (argc == 4 && !strcmp(argv[1], "bursts")) {
		burst(atof(argv[2]), atol(argv[3]));
	} else if (argc == 3 && !strcmp(argv[1], "preempt")) {
		preempt(atof(argv[2]));
	} else if (argc == 3 && !strcmp(argv[1], "worker")) {
		worker_thread(atof(argv[2]));
	} else if (argc == 2 && !strcmp(argv[1], "same")) {
		same = true;
		wander(0, 2, 3000);
	} else {
		fputs("usage: cidprobe wander SLEEPERS WANDERERS MS | pool THREADS RUNNING MS |\n"
		      "                storm THREADS MS | shrink MS | bursts GAP_MS BURSTS |\n"
		      "                preempt MS | worker MS | same\n", stderr);
		return 2;
	}
	return 0;
}
