# SPDX-License-Identifier: GPL-2.0-only
#
# What threads are given as concurrency ids, and how, under several loads. From the
# environment: ARM, "stock" (booted with sched_cid_cache=off), "cache", or "keep",
# the loads that keep_ms matters for under each value of KEEP; MS, how long a load
# is looked at.

. /job/lib.sh

cpus=$(nproc)

switches()
{
	awk '$1 == "ctxt" { print $2 }' /proc/stat
}

counters()
{
	[ ! -e $CID_CACHE/stats ] || cat $CID_CACHE/stats
}

# measure LOAD ARM RUNNING COMMAND...: a sample of what it does to the counters.
measure()
{
	load=$1 arm=$2 running=$3
	shift 3
	progress "$arm: $load"
	counters >/tmp/before
	before=$(switches)
	"$@" >/tmp/out 2>&1 || fail "$*: $(tail -n 1 /tmp/out)"
	after=$(switches)
	counters >/tmp/after
	result "cidrun $load $arm running=$running switches=$((after - before))" \
		"highest=$(sed -n 's/.*highest \([0-9]*\).*/\1/p' /tmp/out)" \
		"$(sed -n 's/.*moved \([0-9]*\) turns \([0-9]*\).*/moved=\1 turns=\2/p
			s/^changes \([0-9]*\) of \([0-9]*\) .*/moved=\1 turns=\2/p' /tmp/out)" \
		"$(awk 'NR == FNR { a[$1] = $2; next } { printf "%s=%.0f ", $1, $2 - a[$1] }' /tmp/before /tmp/after)"
}

loads()
{
	measure wander "$1" 2 cidprobe wander 100 2 "$MS"
	measure pool "$1" $((cpus / 2)) cidprobe pool $((4 * cpus)) $((cpus / 2)) "$MS"
	measure hackbench "$1" - hackbench -T -g 4 -l 200
	measure pingpong "$1" 1 costs 0 many 20000 1
}

case $ARM in
stock)
	[ ! -e $CID_CACHE ] || fail "the CID cache is in use although it was switched off"
	loads stock ;;
keep)
	for ms in $KEEP; do
		echo "$ms" >$CID_CACHE/keep_ms || fail "keep_ms does not take $ms"
		measure wander "$ms" 2 cidprobe wander 100 2 "$MS"
		measure pool "$ms" $((cpus / 2)) cidprobe pool $((4 * cpus)) $((cpus / 2)) "$MS"
		for gap in 3 30; do
			measure bursts$gap "$ms" 1 cidprobe bursts $gap $((MS / gap))
		done
		measure hackbench "$ms" - hackbench -T -g 4 -l 200
	done ;;
cache)
	result "keep_ms $(cat $CID_CACHE/keep_ms)" || fail "no CID cache in this kernel"
	loads cache
	echo 0 >$CID_CACHE/keep_ms || fail "keep_ms does not take 0"
	loads packed ;;
esac
