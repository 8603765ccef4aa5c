// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the scheduler's operations cost, one at a time and on one CPU.
 *
 *   costs CPU OPERATION TIMES REPETITIONS
 *
 *   processes	two processes with one thread each hand a byte back and forth
 *		through two pipes; what is counted is the round trip, two switches
 *   threads	two threads of one process do
 *   many	two processes do that have eight more threads each, all asleep
 *   create	a thread is created and joined
 *   fork	a process is forked, exits and is waited for
 *
 * The last two run in a real-time class: there the new task waits until its
 * parent sleeps.  In the fair class it may come first, and whether the parent then
 * has to sleep at all changes the count by more than what is looked for.
 *
 * Prints the time-stamp counter's growth per operation, a line per repetition.
 * In a guest that runs with -icount shift=0 that counter grows by one per
 * instruction executed, so the figure is instructions per operation. The counter
 * is read directly: the kernel's clocks are derived from it by a calibration that
 * differs a little from boot to boot.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SLEEPERS	8

static int ping[2], pong[2];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, function, NULL);
	if (errno)
		die("pthread_create");
	return thread;
}

static void *nothing(void *unused)
{
	return unused;
}

static void *asleep(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* The other end: sends back what comes until the pipe is closed. */
static void *answer(void *unused)
{
	char byte;

	while (read(ping[0], &byte, 1) == 1) {
		if (write(pong[1], &byte, 1) != 1)
			die("write");
	}
	return unused;
}

static void trip(void)
{
	char byte = 0;

	if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
		die("round trip");
}

static void create(void)
{
	errno = pthread_join(start(nothing), NULL);
	if (errno)
		die("pthread_join");
}

static void new_process(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child)
		_exit(0);
	if (waitpid(child, NULL, 0) != child)
		die("waitpid");
}

static void partner(int sleepers)
{
	pid_t child = fork();
	int i;

	if (child < 0)
		die("fork");
	if (!child)
		close(ping[1]);
	for (i = 0; i < sleepers; i++)
		start(asleep);
	if (!child) {
		answer(NULL);
		_exit(0);
	}
}

/* The new task does not take the CPU from its parent. */
static void take_turns(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	unsigned long long begin, first;
	void (*operation)(void) = trip;
	long times, repetitions, i, r;
	double began;
	cpu_set_t cpus;

	if (argc != 5 || (times = atol(argv[3])) < 1 || (repetitions = atol(argv[4])) < 1) {
		fprintf(stderr, "usage: costs CPU processes|threads|many|create|fork TIMES REPETITIONS\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	if (pipe(ping) || pipe(pong))
		die("pipe");
	if (!strcmp(argv[2], "processes")) {
		partner(0);
	} else if (!strcmp(argv[2], "many")) {
		partner(SLEEPERS);
	} else if (!strcmp(argv[2], "threads")) {
		start(answer);
	} else if (!strcmp(argv[2], "create")) {
		operation = create;
		take_turns();
	} else if (!strcmp(argv[2], "fork")) {
		operation = new_process;
		take_turns();
	} else {
		fprintf(stderr, "costs: no operation '%s'\n", argv[2]);
		return 2;
	}

	/* Everything touched once, and the scheduler's averages settled. */
	for (i = 0; i < times; i++)
		operation();
	began = seconds();
	first = __rdtsc();
	for (r = 0; r < repetitions; r++) {
		/*
		 * What was freed is given back later, in batches that hit one
		 * repetition or the other: let that happen before the next one.
		 */
		if (operation != trip)
			usleep(20 * 1000);
		begin = __rdtsc();
		for (i = 0; i < times; i++)
			operation();
		printf("cost %s %.2f\n", argv[2], (double)(__rdtsc() - begin) / times);
	}
	printf("counter_per_second %.0f\n", (__rdtsc() - first) / (seconds() - began));
	/* Whoever waits for a byte ends with the pipe. */
	fflush(stdout);
	_exit(0);
}
