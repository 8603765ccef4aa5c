# SPDX-License-Identifier: GPL-2.0-only
#
# For the jobs of the guest: talking to the host, reading counters, the knobs.

RESULT=/dev/ttyS1
SCHED=/sys/kernel/debug/sched
SWQUEUE=$SCHED/swqueue
CID_CACHE=$SCHED/cid_cache

# A line of the result that the host's program reads.
result()
{
	echo "$*" >"$RESULT"
}

result_lines()
{
	cat >"$RESULT"
}

# Shown to the user while the guest runs.
progress()
{
	result "progress $*"
}

# End the job; the host shows the text.
fail()
{
	result "error $*"
	exit 1
}

# knob NAME WORD: write one of our debugfs knobs, or end the job.
knob()
{
	echo "$2" >"$SWQUEUE/$1" || fail "writing '$2' to $SWQUEUE/$1 failed"
}

# feature [NO_]NAME: flip a scheduler feature bit, or end the job.
feature()
{
	echo "$1" >"$SCHED/features" || fail "writing '$1' to $SCHED/features failed"
}
