// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command under a core scheduling cookie of its own: its tasks share a
 * core with each other and with nobody else.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE		62
#define PR_SCHED_CORE_CREATE	1
#endif

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: coresched COMMAND [ARGUMENT...]\n");
		return 2;
	}
	/* Scope 0: this thread; what it starts inherits the cookie. */
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0)) {
		fprintf(stderr, "coresched: no cookie: %s\n", strerror(errno));
		return 1;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "coresched: %s: %s\n", argv[1], strerror(errno));
	return 127;
}
