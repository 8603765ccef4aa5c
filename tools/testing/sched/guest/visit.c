// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make every CPU go idle once, then read the length of the wake queue; until
 * that is 0, or a number of times. A process waits on each CPU and wakes for a
 * moment: nothing has to migrate, and nothing waits on account of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* In ms: a round, the first CPU's turn in it, and the time to read. */
enum { ROUND = 1500, FIRST = 1000, READ = 1400 };

static struct timespec start;

static void until(long ms)
{
	struct timespec time = start;

	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

static void settle(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "visit: CPU %ld: %s\n", cpu, strerror(errno));
		exit(1);
	}
}

static long length(const char *stats)
{
	FILE *file = fopen(stats, "r");
	char line[256];
	long value = -1;

	while (file && value < 0 && fgets(line, sizeof(line), file))
		sscanf(line, "length %ld", &value);
	if (value < 0) {
		fprintf(stderr, "visit: no length in %s\n", stats);
		exit(1);
	}
	fclose(file);

	return value;
}

int main(int argc, char **argv)
{
	long cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), left = -1;
	int round, rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: visit STATS ROUNDS\n");
		return 2;
	}
	signal(SIGCHLD, SIG_IGN);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (cpu = 0; cpu < cpus; cpu++) {
		pid_t child = fork();

		if (child < 0) {
			perror("visit: fork");
			return 1;
		}
		if (child)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		settle(cpu);
		for (round = 0; round < rounds; round++)
			until(round * ROUND + FIRST + cpu * (READ - FIRST) / cpus);
		_exit(0);
	}
	settle(0);
	for (round = 0; round < rounds && left; round++) {
		until(round * ROUND + READ);
		left = length(argv[1]);
		printf("%ld ", left);
	}
	printf("\n");

	return left != 0;
}
