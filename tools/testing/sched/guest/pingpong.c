// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes on one CPU hand a byte back and forth through two pipes.
 *
 * Prints the time-stamp counter's growth per round trip for several repetitions.
 * In a guest that runs with -icount shift=0 that counter grows by one per
 * instruction executed, so the figure is instructions per round trip. The
 * counter is read directly: the kernel's clocks are derived from it by a
 * calibration that differs a little from boot to boot.
 *
 * Usage: pingpong CPU ROUND_TRIPS REPETITIONS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pass(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		exit(0);
	if (write(to, &byte, 1) != 1)
		die("write");
}

static void trip(int out, int in)
{
	char byte = 0;

	if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
		die("round trip");
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int ping[2], pong[2];
	long trips, repetitions, i, r;
	unsigned long long start, first;
	double began;
	cpu_set_t cpus;
	pid_t child;

	if (argc != 4 || (trips = atol(argv[2])) < 1 || (repetitions = atol(argv[3])) < 1) {
		fprintf(stderr, "usage: pingpong CPU ROUND_TRIPS REPETITIONS\n");
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	if (pipe(ping) || pipe(pong))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		close(ping[1]);
		for (;;)
			pass(ping[0], pong[1]);
	}

	/* Everything touched once, and the scheduler's averages settled. */
	for (i = 0; i < trips; i++)
		trip(ping[1], pong[0]);
	began = seconds();
	first = __rdtsc();
	for (r = 0; r < repetitions; r++) {
		start = __rdtsc();
		for (i = 0; i < trips; i++)
			trip(ping[1], pong[0]);
		printf("pingpong %.2f\n", (double)(__rdtsc() - start) / trips);
	}
	printf("counter_per_second %.0f\n", (__rdtsc() - first) / (seconds() - began));
	close(ping[1]);
	waitpid(child, NULL, 0);
	return 0;
}
