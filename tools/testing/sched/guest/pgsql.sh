# SPDX-License-Identifier: GPL-2.0-only
#
# PostgreSQL under sysbench's read-only load, the load of the first report. From
# the environment: THREADS of sysbench, SECONDS, USER of the server, TABLES, ROWS.

. /job/lib.sh

export LUA_PATH="/usr/share/sysbench/?.lua" LC_ALL=C
chown -R "$USER:$USER" /pgdata && chmod 700 /pgdata || fail "chown /pgdata"
progress "PostgreSQL starts"
/usr/bin/setpriv --reuid="$USER" --regid="$USER" --clear-groups /usr/lib/postgresql/15/bin/postgres -D /pgdata -k /tmp \
	-c listen_addresses= -c fsync=off -c jit=off \
	-c max_connections=$((THREADS + 10)) >/tmp/server 2>&1 &
server=$!
chmod 1777 /tmp /dev/shm

load()
{
	sysbench /usr/share/sysbench/oltp_read_only.lua --db-driver=pgsql --pgsql-host=/tmp --pgsql-user=postgres \
		--pgsql-db=postgres --tables="$TABLES" --table-size="$ROWS" --threads="$1" --time="$2" run
}

for try in $(seq 60); do
	[ -S /tmp/.s.PGSQL.5432 ] && load 1 1 >/tmp/out 2>&1 && break
	kill -0 $server 2>/dev/null || fail "PostgreSQL ended: $(tail -n 1 /tmp/server)"
	[ "$try" != 60 ] || fail "sysbench gets no answer: $(tail -n 1 /tmp/out)"
	sleep 1
done
counters()
{
	awk '$1 == "ctxt" { print "switches", $2 }' /proc/stat
	[ ! -e $CID_CACHE/stats ] || cat $CID_CACHE/stats
}
progress "sysbench with $THREADS threads"
counters >/tmp/before
load "$THREADS" "$SECONDS" >/tmp/out 2>&1 || fail "sysbench: $(tail -n 1 /tmp/out)"
counters >/tmp/after
result "sysbench transactions=$(sed -n 's/^ *transactions: *\([0-9]*\) .*/\1/p' /tmp/out)" \
	"$(awk 'NR == FNR { a[$1] = $2; next } { printf "%s=%.0f ", $1, $2 - a[$1] }' /tmp/before /tmp/after)"
kill -INT $server
wait $server
exit 0
