# SPDX-License-Identifier: GPL-2.0-only
#
# Programs with many threads on the CID cache, and what its counters say of it.
# The host checks the console. $1 is what is to be shown:
#
#   on		16 CPUs, the whole list
#   off		the same image with sched_cid_cache=off: no knobs, and the checks
#		of cidprobe hold for the kernel's own allocator, too
#   first	4 CPUs, sched_cid_cache=bad, and the first program that the kernel
#		is told to start cannot be started
#   two, one	2 CPUs, 1 CPU
#   live	the debug kernel, while everything changes at once

. /job/lib.sh

cpus=$(nproc)
CG=/sys/fs/cgroup

counter()
{
	awk -v name="$1" '$1 == name { print $2 }' $CID_CACHE/stats
}

# Switch-ins of user threads that were counted: each is in one of the first nine.
switched()
{
	awk 'NR <= 9 { n += $2 } END { printf "%d\n", n }' $CID_CACHE/stats
}

# probe ARGUMENTS: the program's line, or the end of the job.
probe()
{
	answer=$(cidprobe "$@" 2>&1) || fail "cidprobe $*: $answer"
	echo "$answer"
}

# word NAME LINE...: what stands behind NAME.
word()
{
	name=$1
	shift
	echo "$*" | tr ' ' '\n' | awk -v name="$name" 'take { print; exit } $1 == name { take = 1 }'
}

keep()
{
	echo "$1" >$CID_CACHE/keep_ms || fail "keep_ms does not take $1"
}

# The check of uniqueness has to see two threads with one id.
check_the_check()
{
	line=$(cidprobe same 2>&1)
	case $line in
	*"another running thread has it") ;;
	*) fail "cidprobe does not see that two threads mark one slot: $line" ;;
	esac
	result "cid two threads that mark one slot are seen: $line"
}

sane()
{
	for name in slow_again exceeded; do
		[ "$(counter $name)" = 0 ] || fail "$name is $(counter $name)"
	done
	result "cid slow_again and exceeded are 0"
}

storms()
{
	for ms in 0 $DEFAULT 3600000; do
		keep $ms
		line=$(probe storm "$1" 3000) || exit 1
		result "cid keep_ms $ms: up to $1 threads on $cpus CPUs come, move, exec and go: $line"
	done
	keep $DEFAULT
}

if [ "$1" = off ]; then
	[ ! -e $CID_CACHE ] || fail "$CID_CACHE exists although sched_cid_cache=off"
	result "cid sched_cid_cache=off leaves no directory of knobs"
	check_the_check
	line=$(probe storm $((2 * cpus)) 3000) || exit 1
	result "cid the kernel's own allocator under the same storm: $line"
	line=$(probe wander 100 2 3000) || exit 1
	result "note the kernel's own allocator: 100 threads asleep, 2 wandering, $cpus CPUs: $line"
	exit 0
fi
[ -d $CID_CACHE ] || fail "$CID_CACHE does not exist"
DEFAULT=$(cat $CID_CACHE/keep_ms)

case $1 in
first)
	dmesg | grep -q "sched_cid_cache: 'bad' is neither 'on' nor 'off'" ||
		fail "the kernel did not complain of sched_cid_cache=bad"
	result "cid sched_cid_cache=bad is named as an error and stays on"
	dmesg | grep -q "Failed to execute /job/lost-interpreter" ||
		fail "the kernel did not try the program it was told to start first"
	result "cid the first program cannot be started, the kernel goes on with the next one"
	echo '|/no/such/helper' >/proc/sys/kernel/core_pattern && ulimit -c unlimited || fail "no core_pattern"
	sh -c 'kill -SEGV $$'
	dmesg | grep -q "no/such/helper.*pipe failed" || fail "the kernel did not try the helper it was told to start"
	result "cid a helper of the kernel that cannot be started: nothing happens"
	# One thread more than CPUs, and back: where the kernel of 6.19 locked up.
	for threads in 4 5 6; do
		line=$(probe storm $threads 2000) || exit 1
		result "cid up to $threads threads on $cpus CPUs come, move, exec and go: $line"
	done
	sane
	exit 0 ;;
two)
	check_the_check
	storms 8
	line=$(probe preempt 2000) || exit 1
	result "cid each loss of the CPU aborts the sequence and rewrites struct rseq: $line"
	sane
	exit 0 ;;
one)
	storms 4
	sane
	exit 0 ;;
live)
	# Everything that may change, while threads come, move and go.
	touch /tmp/alive
	echo "+cpuset" >$CG/cgroup.subtree_control || fail "no cpuset controller"
	mkdir $CG/low $CG/high
	echo 0-$((cpus / 2 - 1)) >$CG/low/cpuset.cpus && echo $((cpus / 2))-$((cpus - 1)) >$CG/high/cpuset.cpus ||
		fail "no cpuset.cpus"
	count()
	{
		n=$(cat /tmp/count.$1 2>/dev/null)
		echo ${n:-0}
	}
	# again NAME COMMAND: until the end; counted if it did something.
	again()
	{
		(
			n=0
			while [ -e /tmp/alive ]; do
				$2 || continue
				n=$((n + 1))
				echo $n >/tmp/count.$1
			done
		) &
	}
	random()
	{
		echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
	}
	hotplug()
	{
		cpu=$((1 + $(random $((cpus - 1)))))
		echo 0 >/sys/devices/system/cpu/cpu$cpu/online || echo "cpu$cpu does not go" >/tmp/failed
		echo 1 >/sys/devices/system/cpu/cpu$cpu/online || echo "cpu$cpu does not come" >/tmp/failed
	}
	cpusets()
	{
		moved=1
		# Any of them may be gone by the time it is meant.
		for pid in $(pidof cidprobe); do
			for group in low high .; do
				echo "$pid" >$CG/$group/cgroup.procs && moved=0
				sleep 0.05
			done
		done 2>/dev/null
		sleep 0.05
		return $moved
	}
	keeps()
	{
		case $(random 4) in
		0) keep 0 ;;
		1) keep 1 ;;
		2) keep $DEFAULT ;;
		3) keep 3600000 ;;
		esac
		sleep 0.03
	}
	check_the_check
	for change in hotplug cpusets keeps; do
		again $change $change
	done
	for round in $(seq "${ROUNDS:-6}"); do
		progress "round $round: hotplug $(count hotplug), cpusets $(count cpusets), keep_ms $(count keeps)"
		probe storm $((2 * cpus)) 5000 >/tmp/storm &
		load=$!
		probe storm 3 5000 >/tmp/few &
		load="$load $!"
		probe pool $((4 * cpus)) $((cpus / 2)) 5000 >/tmp/pool &
		load="$load $!"
		hackbench -T -g 1 -f 4 -l 100 >/dev/null 2>&1
		wait $load
		for file in storm few pool; do
			[ -s /tmp/$file ] || fail "cidprobe $file ended without a word"
		done
		result "note round $round: $(cat /tmp/storm); $(cat /tmp/few); $(cat /tmp/pool)"
	done
	rm /tmp/alive
	wait
	[ ! -e /tmp/failed ] || fail "$(cat /tmp/failed)"
	for change in hotplug cpusets keeps; do
		[ "$(count $change)" -gt 5 ] || fail "$change came only $(count $change) times: the test is not what it says"
	done
	result "cid ids are unique and in bounds under $(count hotplug) hotplug cycles, $(count cpusets) rounds of cpusets and $(count keeps) values of keep_ms"
	sane
	result "note $(tr '\n' ' ' <$CID_CACHE/stats)"
	exit 0 ;;
esac

progress "sleepers and wanderers"
check_the_check
keep 0
line=$(probe wander 100 2 3000) || exit 1
[ "$(word highest $line)" = 1 ] || fail "keep_ms 0, 100 threads asleep and 2 wandering: $line, not 1"
result "cid keep_ms 0: 100 threads asleep, 2 wandering, $cpus CPUs: $line"
keep $DEFAULT
line=$(probe wander 100 2 3000) || exit 1
result "cid keep_ms $DEFAULT: the same: $line, below $cpus"

progress "one at a time"
keep 3600000
line=$(probe bursts 20 100) || exit 1
# Two threads may have begun with the same id. Each takes it along while they do not
# run at once, and they do if the CPU of one, or of the thread that asks them, is
# stopped by the host on its way to sleep: then an id changes.
[ "$(word changes $line)" -le 5 ] || fail "keep_ms 3600000, bursts 20 ms apart: $line"
result "cid keep_ms 3600000: a thread to each of $cpus CPUs, one at a time: $line"
keep 0
line=$(probe bursts 20 100) || exit 1
[ "$(word highest $line)" -le 1 ] || fail "keep_ms 0, bursts 20 ms apart: $line"
result "cid keep_ms 0: the same: $line"
line=$(probe shrink 1000) || exit 1
[ "$(word to $line)" = 0 ] || fail "keep_ms 0, all threads but one have gone: $line"
result "cid keep_ms 0: a thread on each CPU, all but the one with the highest id exit: $line"
keep $DEFAULT
line=$(probe worker 1000) || exit 1
result "cid a worker of io_uring is no user of ids: $line"

progress "what counts"
# Wake-ups and migrations count nowhere, only switches do.
for how in "wander 0 $cpus" "pool $((2 * cpus)) $((cpus / 2))"; do
	before=$(switched)
	line=$(probe $how 3000) || exit 1
	counted=$(($(switched) - before))
	made=$(word switches $line)
	# The shell's own, and those that the program makes while it ends.
	[ $((counted * 100)) -ge $((made * 98)) ] && [ $counted -le $((made * 102 / 100 + 300)) ] ||
		fail "cidprobe $how: $made switches, $counted counted"
	result "cid cidprobe $how: $made switches, of a kernel that counts $counted"
done

progress "threads that come and go"
storms $((2 * cpus))

progress "the kernel's own rseq tests"
for test in basic_mm_cid param_mm_cid; do
	[ -x /usr/bin/$test ] || fail "no program $test"
	case $test in
	basic_mm_cid)
		basic_mm_cid >/tmp/log 2>&1 || fail "basic_percpu_ops_mm_cid_test: $(tail -1 /tmp/log)" ;;
	param_mm_cid)
		for kind in s l b i; do
			# It registers an area of its own, as its script has it.
			GLIBC_TUNABLES=glibc.pthread.rseq=0 \
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
# The shell itself may be late to sleep, on a CPU that does not run.
for try in $(seq 50); do
	line=$(cat $CID_CACHE/process)
	case $line in
	*" running 0 "*) break ;;
	esac
	sleep 0.1
done
case $line in
"pid $$ users 1 allowed $cpus running 0 held 0") result "cid process: $line" ;;
*) fail "process says '$line' of a shell with one thread" ;;
esac
sane
