// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make every CPU go idle once, then read the length of the wake queue; until
 * that is 0, or a number of times. One process and no child: a shell that did
 * this would make tasks wait itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void nap(long ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void visit(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "visit: CPU %ld: %s\n", cpu, strerror(errno));
		exit(1);
	}
	nap(10);
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
	long cpu, cpus = sysconf(_SC_NPROCESSORS_CONF), left = -1;
	int round, rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: visit STATS ROUNDS\n");
		return 2;
	}
	for (round = 1; round <= rounds && left; round++) {
		nap(1000);
		for (cpu = 0; cpu < cpus; cpu++)
			visit(cpu);
		left = length(argv[1]);
		printf("%ld ", left);
	}
	printf("\n");

	return left != 0;
}
