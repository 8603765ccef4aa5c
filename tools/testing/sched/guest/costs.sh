# SPDX-License-Identifier: GPL-2.0-only
#
# Instructions per operation. From the environment: FEATURE, what to write to the
# scheduler's features file first (empty: nothing); OPERATIONS, words like
# "processes:5000": the operation and how often a repetition does it; REPETITIONS.

. /job/lib.sh

[ -z "$FEATURE" ] || feature "$FEATURE"
echo 0 >/proc/sys/kernel/sched_schedstats 2>/dev/null
# The same addresses each time: or a stack takes two page faults here, three there.
echo 0 >/proc/sys/kernel/randomize_va_space
# A pause of the real-time class would be counted as well.
echo -1 >/proc/sys/kernel/sched_rt_runtime_us || fail "the limit of real-time tasks stays"
for word in $OPERATIONS; do
	# The last CPU: the first one has the interrupts and the kernel's own timers.
	/job/costs $(($(nproc) - 1)) "${word%:*}" "${word#*:}" "$REPETITIONS" >/tmp/out ||
		fail "costs ${word%:*} failed"
	result_lines </tmp/out
done
