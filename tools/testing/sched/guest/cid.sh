# SPDX-License-Identifier: GPL-2.0-only
#
# Programs with many threads on the CID cache, and what its counters say of it.
# The host checks the console. $1: what sched_cid_cache= was booted with; "bad" is
# only asked whether it was complained of and counts as on.

. /job/lib.sh

cpus=$(nproc)

counter()
{
	awk -v name="$1" '$1 == name { print $2 }' $CID_CACHE/stats
}

# probe ARGUMENTS: the program's line, or the end of the job.
probe()
{
	answer=$(cidprobe "$@" 2>&1) || fail "cidprobe $*: $answer"
	echo "$answer"
}

if [ "$1" = off ]; then
	[ ! -e $CID_CACHE ] || fail "$CID_CACHE exists although sched_cid_cache=off"
	result "cid sched_cid_cache=off leaves no directory of knobs"
	line=$(probe wander 100 2 3000) || exit 1
	result "note the kernel's own allocator: 100 threads asleep, 2 wandering, $cpus CPUs: $line"
	exit 0
fi
[ -d $CID_CACHE ] || fail "$CID_CACHE does not exist"
if [ "$1" = bad ]; then
	dmesg | grep -q "sched_cid_cache: 'bad' is neither 'on' nor 'off'" ||
		fail "the kernel did not complain of sched_cid_cache=bad"
	result "cid sched_cid_cache=bad is named as an error and stays on"
	exit 0
fi

progress "sleepers and wanderers"
echo 0 >$CID_CACHE/keep_ms || fail "keep_ms does not take 0"
line=$(probe wander 100 2 3000) || exit 1
[ "$line" = "highest 1" ] || fail "keep_ms 0, 100 threads asleep and 2 wandering: $line, not 1"
result "cid keep_ms 0: 100 threads asleep, 2 wandering, $cpus CPUs: $line"
echo 20 >$CID_CACHE/keep_ms
line=$(probe wander 100 2 3000) || exit 1
result "cid keep_ms 20: the same: $line, below $cpus"

progress "threads that come and go"
for keep in 0 20 3600000; do
	echo $keep >$CID_CACHE/keep_ms
	line=$(probe storm $((2 * cpus)) 3000) || exit 1
	result "cid keep_ms $keep: up to $((2 * cpus)) threads come, move, exec and go: $line"
done
echo 20 >$CID_CACHE/keep_ms

progress "the kernel's own rseq tests"
for test in basic_mm_cid param_mm_cid; do
	[ -x /usr/bin/$test ] || continue
	case $test in
	basic_mm_cid)
		basic_mm_cid >/tmp/log 2>&1 || fail "basic_percpu_ops_mm_cid_test: $(tail -1 /tmp/log)" ;;
	param_mm_cid)
		for kind in s l b i; do
			param_mm_cid -T $kind -t $((2 * cpus)) -r 500 >/tmp/log 2>&1 ||
				fail "param_test_mm_cid -T $kind: $(tail -1 /tmp/log)"
		done ;;
	esac
	result "cid selftests/rseq: $test passes"
done

progress "hackbench with threads"
echo 1 >$CID_CACHE/reset
hackbench -T -g 4 -l 100 >/tmp/log 2>&1 || fail "hackbench -T: $(tail -1 /tmp/log)"
[ "$(counter hand_over)" -gt 100 ] || fail "hackbench passed on no id: hand_over $(counter hand_over)"
result "cid hackbench -T ends: $(grep Time: /tmp/log)"
result "note $(tr '\n' ' ' <$CID_CACHE/stats)"

echo $$ >$CID_CACHE/process
line=$(cat $CID_CACHE/process)
case $line in
"pid $$ users 1 allowed $cpus running 0 held 0") result "cid process: $line" ;;
*) fail "process says '$line' of a shell with one thread" ;;
esac
for name in slow_again exceeded; do
	[ "$(counter $name)" = 0 ] || fail "$name is $(counter $name)"
done
result "cid slow_again and exceeded are 0"
