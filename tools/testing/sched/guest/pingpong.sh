# SPDX-License-Identifier: GPL-2.0-only
#
# Instructions per pipe round trip. From the environment: FEATURE, what to write
# to the scheduler's features file first (empty: nothing), TRIPS, REPETITIONS.

. /job/lib.sh

[ -z "$FEATURE" ] || feature "$FEATURE"
echo 0 >/proc/sys/kernel/sched_schedstats 2>/dev/null
# The last CPU: the first one has the interrupts and the kernel's own timers.
/job/pingpong $(($(nproc) - 1)) "$TRIPS" "$REPETITIONS" >/tmp/out || fail "pingpong failed"
result_lines </tmp/out
