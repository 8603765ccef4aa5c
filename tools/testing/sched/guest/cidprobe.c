// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the concurrency ids that threads of this process are given.
 *
 *   cidprobe wander SLEEPERS WANDERERS MS
 *	Threads that sleep all the time, and others that run and move to a
 *	random CPU again and again.  Prints the highest id a wanderer had after
 *	the first quarter of the time.
 *   cidprobe storm THREADS MS
 *	Threads are created and joined, up to THREADS at a time, while they move;
 *	some of them call execve, which fails, and some fork a child that execs.
 *	Prints how many came and went and the highest id.
 *
 * Every id is checked: never negative, below the number of threads there ever
 * were at a time, and below the number of CPUs.  The bound may shrink while a
 * thread runs, so the largest number of threads is what counts here.
 *
 * Exit: 0 all ids are right, 1 an id is wrong (it is named), 2 it can't be told.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Place of mm_cid in the kernel's struct rseq, which glibc's is older than. */
#define MM_CID_OFFSET	24

static long cpus, bound;
static atomic_int highest = -1;
static atomic_bool counting, stop;
static atomic_long finished;

static void die(const char *what)
{
	fprintf(stderr, "cidprobe: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double ms_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* One look at the own id. */
static void look(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
	int32_t id = *(volatile int32_t *)(area + MM_CID_OFFSET);
	int old;

	if (id < 0 || id >= bound) {
		printf("id %d is not in 0..%ld\n", id, bound - 1);
		fflush(stdout);
		_exit(1);
	}
	old = highest;
	while (counting && id > old && !atomic_compare_exchange_weak(&highest, &old, id))
		;
}

static void move(unsigned int *seed)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(rand_r(seed) % cpus, &set);
	/* The CPU may be off line at the moment. */
	if (sched_setaffinity(0, sizeof(set), &set) && errno != EINVAL)
		die("sched_setaffinity");
	if (rand_r(seed) % 4 == 0) {
		for (int cpu = 0; cpu < cpus; cpu++)
			CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("sched_setaffinity");
	}
}

static void *sleeper(void *unused)
{
	(void)unused;
	look();
	while (!stop)
		usleep(3600 * 1000000U);
	return NULL;
}

static void *wanderer(void *number)
{
	unsigned int seed = (uintptr_t)number;

	while (!stop) {
		move(&seed);
		for (int i = 0; i < 2000; i++)
			look();
		if (rand_r(&seed) % 8 == 0)
			usleep(500);
	}
	return NULL;
}

static void *visitor(void *number)
{
	static char *const args[] = { "true", NULL };
	unsigned int seed = (uintptr_t)number;

	look();
	move(&seed);
	for (int i = 0; i < 500; i++)
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

static void wander(long sleepers, long wanderers, double ms)
{
	bound = 1 + sleepers + wanderers < cpus ? 1 + sleepers + wanderers : cpus;
	for (long i = 0; i < sleepers; i++)
		start(sleeper, 0);
	for (long i = 0; i < wanderers; i++)
		start(wanderer, i + 1);
	usleep(ms * 250);
	counting = true;
	usleep(ms * 750);
	counting = false;
	printf("highest %d\n", highest);
	fflush(stdout);
	_exit(0);
}

static void storm(long threads, double ms)
{
	double end = ms_now() + ms;
	unsigned int seed = 1;

	counting = true;
	/* A vfork child is one more user of the mm for a moment, for each thread. */
	bound = 1 + 2 * threads < cpus ? 1 + 2 * threads : cpus;
	while (ms_now() < end) {
		long n = 1 + rand_r(&seed) % threads;
		pthread_t thread[n];

		for (long i = 0; i < n; i++)
			thread[i] = start(visitor, rand_r(&seed));
		for (long i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		look();
	}
	printf("threads %ld highest %d\n", finished, highest);
}

int main(int argc, char **argv)
{
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (!__rseq_size) {
		fputs("cidprobe: this C library has registered no rseq area\n", stderr);
		return 2;
	}
	if (argc == 5 && !strcmp(argv[1], "wander"))
		wander(atol(argv[2]), atol(argv[3]), atof(argv[4]));
	else if (argc == 4 && !strcmp(argv[1], "storm") && atol(argv[2]) > 0)
		storm(atol(argv[2]), atof(argv[3]));
	else
		return fputs("usage: cidprobe wander SLEEPERS WANDERERS MS | storm THREADS MS\n", stderr), 2;
	return 0;
}
