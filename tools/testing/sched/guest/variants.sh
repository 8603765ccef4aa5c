# SPDX-License-Identifier: GPL-2.0-only
#
# After the KUnit suites of the boot: threads that come, move and go with the check
# of their ids, then the torture test while CPUs go off and on line. DURATION of
# each, in seconds.

. /job/lib.sh

: "${DURATION:=10}"
for ms in 0 20; do
	echo $ms >$CID_CACHE/keep_ms || fail "keep_ms does not take $ms"
	progress "threads come and go, keep_ms $ms"
	line=$(cidprobe storm $((2 * $(nproc))) $((DURATION * 500)) 2>&1) || fail "cidprobe: $line"
	result "variant keep_ms $ms, threads come, move, exec and go: $line"
done
for name in slow_again exceeded; do
	n=$(awk -v name=$name '$1 == name { print $2 }' $CID_CACHE/stats)
	[ "$n" = 0 ] || fail "$name is $n"
done
result "variant slow_again and exceeded are 0"
ACTS=bound
. /job/torture.sh
moved=$(awk '$1 == "pull_moved" { print $2 }' $SWQUEUE/stats)
[ "$moved" -gt 0 ] || fail "no CPU took a task out of the queue"
result "variant the queue was used: $moved tasks moved"
# A slow console shall be done, too.
sleep 3
