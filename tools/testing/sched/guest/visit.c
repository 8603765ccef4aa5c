// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make every CPU go idle once: go there, sleep for a moment, go on. One process
 * and no child, so that nothing waits anywhere on account of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const struct timespec nap = { .tv_nsec = 10 * 1000 * 1000 };
	long cpu, cpus = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t set;

	for (cpu = 0; cpu < cpus; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			fprintf(stderr, "visit: CPU %ld: %s\n", cpu, strerror(errno));
			return 1;
		}
		nanosleep(&nap, NULL);
	}

	return 0;
}
