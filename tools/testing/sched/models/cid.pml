/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CID cache protocol, sequentially consistent model.  One stored state per
 * access to shared data; purely local work is folded into the step before or
 * after.
 *
 * - Threads of one mm are interchangeable: counted in ready[m], not named.
 * - The seq field of owner[] is modelled exactly, not modulo: att[c] means
 *   "the owner word has not been written since CPU c read it"; every successful
 *   write clears it for all others.  No wrap artefact, no counter.
 * - Generations: an mm slot uses gen == its index for its life; on death every
 *   cache word of that gen becomes DEAD (nothing will ever look it up).  Exact
 *   for generations that are never reused; makes fork/exec/exit unbounded in a
 *   finite model.  -DGENREUSE switches it off (reuse at distance 1).
 * - EVICT: pressure of unrelated mms may overwrite any parked word at any time
 *   while its CPU is between threads.
 * - POLICY: a lock-free pass may leave any parked id alone ("too young").
 * - COMPACT: an own parked id may be passed over in favour of another one.
 * - ANYFIRST: a lock-free pass may begin at any id (a thread's last one, one
 *   that the CPU had before) and leave out the lower ones.
 * - AFF: mms start allowed on one CPU, the union grows later.
 * - ONLINE: a CPU without a thread may go away and come back; then it clears its
 *   words one after the other (cid_cache_online()). While it is away it is like
 *   one that stays idle.
 * - LASTRES: the accounting is wrong: threads run on CPUs that the mask does not
 *   have, so the bound is too small. The second locked pass that finds nothing
 *   breaks the bound (cid_break_bound()) and must find an id.
 *
 * Gate: a switch-in that finds a slow episode in progress waits for the end of
 * that one episode and then goes the normal way (GATE1: older variant, it queues
 * on the slow path lock instead).
 *
 * Progress (-DNP): no thread waits for its id for ever while others do nothing
 * but search; the progress labels are where one has got it.
 *
 * Breaks: NOSEQ LATE_ENTRY GENREUSE EXEC_DEC PLAIN_RESUME MAT_NOSTEAL
 *         EXIT_EARLY_DEC NOGATE NOLOCK MOVE_ENTRY SKIP_LOST ONLINE_RUN (with
 *         ONLINE) LAST_NOCLAIM (with LASTRES)
 */
#ifndef NCPU
#define NCPU 2
#endif
#ifndef NS
#define NS 1
#endif
#ifndef NMM
#define NMM 2
#endif
#ifndef MAXT
#define MAXT 3
#endif
#define NID NCPU
#define NONE 15
#define DEAD 254
#ifndef MAXPASS
#define MAXPASS NCPU		/* the MAXPASS-th locked pass must succeed */
#endif

#define PARKW(m,k) (1 + (((m)*NID + (k))<<1))
#define RUNW(m,k)  (PARKW(m,k) + 1)
#define IS_RUN(w)  ((w) != 0 && (w) != DEAD && (((w)-1) & 1))
#define W_MM(w)    ((((w)-1)>>1)/NID)
#define W_ID(w)    ((((w)-1)>>1)%NID)
#define OF_MM(w,m) ((w) != 0 && (w) != DEAD && W_MM(w) == (m))
#define C(c,j)     cache[(c)*NS+(j)]
#define O(m,k)     owner[(m)*NID+(k)]

byte cache[NCPU*NS];
byte owner[NMM*NID];		/* cpu+1, 0 = never used */
byte users[NMM];		/* 0 = mm slot free */
byte ready[NMM];		/* runnable, not on a CPU */
byte mask[NMM];			/* grow-only union of allowed CPUs */
byte lck[NMM];			/* slow path lock = gate */
byte ucid[NCPU];		/* ghost: m*NID+k+1 while a thread with an id runs */
byte att[NCPU];			/* valid snapshot of owner[att-1] */
byte nthr;
#ifndef GATE1
byte gw[NCPU];			/* waits for the end of one slow episode of mm gw-1 */
#endif

#if NCPU == 2
#define WEIGHT(x) (((x)&1) + (((x)>>1)&1))
#elif NCPU == 3
#define WEIGHT(x) (((x)&1) + (((x)>>1)&1) + (((x)>>2)&1))
#else
#define WEIGHT(x) (((x)&1) + (((x)>>1)&1) + (((x)>>2)&1) + (((x)>>3)&1))
#endif
#define ALL ((1<<NCPU)-1)
#ifdef LASTRES
#define MAY(m,c) 1			/* whatever the mask says */
#else
#define MAY(m,c) ((mask[m]>>(c))&1)
#endif
#if defined(AFF) || defined(LASTRES)
#define MASK0(c) (1<<(c))
#else
#define MASK0(c) ALL
#endif
#define MIN(a,b) ((a) < (b) -> (a) : (b))
#define BOUND(m) MIN(users[m], WEIGHT(mask[m]))

#ifdef NOSEQ
#define OWN_OK(c,m,k) (O(m,k) == d)
#else
#define OWN_OK(c,m,k) (att[c] == (m)*NID+(k)+1)
#endif

inline invalidate(id) {
	i = 0;
	do
	:: i < NCPU -> if :: att[i] == id -> att[i] = 0 :: else fi; i++
	:: else -> break
	od;
	i = 0
}

inline enter(c, id) {		/* thread has its id: I1 */
	ucid[c] = (id) + 1;
	i = 0;
	do
	:: i < NCPU -> assert(i == c || ucid[i] != ucid[c]); i++
	:: else -> break
	od;
	i = 0; k = 0; d = 0; s = 0; j = 0; B = 0; np = 0
}

inline clean(c) {		/* no RUNNING word without a holder: no lost id */
	i = 0;
	do
	:: i < NS -> assert(!IS_RUN(C(c,i))); i++
	:: else -> break
	od;
	i = 0
}

inline park(c) {
	ucid[c] = 0;
	if :: cur != NONE -> assert(IS_RUN(C(c,cur))); C(c,cur) = C(c,cur) - 1 :: else fi;
	cur = NONE; k = 0; d = 0; s = 0; j = 0
}

inline leave(mm) {
	users[mm]--;
	if
	:: users[mm] == 0 ->
		assert(ready[mm] == 0 && lck[mm] == 0);
		i = 0;
#ifndef GENREUSE
		do
		:: i < NCPU*NS ->
			if :: OF_MM(cache[i], mm) -> assert(!IS_RUN(cache[i])); cache[i] = DEAD
			:: else fi; i++
		:: else -> break
		od;
#endif
		i = 0;
		do
		:: i < NID -> O(mm,i) = 0; i++
		:: else -> break
		od;
		i = 0; mask[mm] = 0
	:: else
	fi
}

inline ownslot(c) {		/* own entry of mm m -> s, id in k */
	s = NONE; j = 0;
	do
	:: j < NS -> if :: OF_MM(C(c,j), m) -> s = j :: else fi; j++
	:: else -> break
	od;
	j = 0;
	if :: s != NONE -> k = W_ID(C(c,s)) :: else -> k = 0 fi
}

inline pickslot() {		/* slot of the new entry: anything, own included */
	if
	:: s = 0
#if NS > 1
	:: s = 1
#endif
	fi
}

proctype cpu(byte c) {
	byte m, k, d, s, j, B, np, i, m2;
	byte cur = NONE;
	bit locked, mat;
#ifdef LASTRES
	bit last;
#endif

IDLE:	/* nothing of anybody held */
end:	atomic {
		if
#ifdef ONLINE
		:: true -> s = 0; goto ONL
#endif
#ifdef EVICT
		:: C(c,0) != 0 -> C(c,0) = 0; goto L0
#if NS > 1
		:: C(c,1) != 0 -> C(c,1) = 0; goto L0
#endif
#endif
		:: ready[0] > 0 && MAY(0,c) -> ready[0]--; m = 0
#if NMM > 1
		:: ready[1] > 0 && MAY(1,c) -> ready[1]--; m = 1
#endif
		fi;
		clean(c)
	}
	goto L6;
L0:	skip; goto IDLE;
#ifdef ONLINE
ONL:	skip;				/* cid_cache_online() */
	atomic {
		if
		:: s < NS -> C(c,s) = 0; s++; goto L7
		:: s == NS -> s = 0; goto L0
		fi
	}
L7:	skip; goto ONL;
#endif

L6:	skip; goto ACQ;
ACQ:	/* ---- switch-in of an active thread of mm m: gate ---- */
	atomic {
		mat = 0; locked = 0;
		if
#ifdef NOGATE
		:: true
#else
		:: lck[m] == 0 -> goto BND
#ifdef GATE1
		:: lck[m] != 0 -> goto SLOW
#else
		:: lck[m] != 0 -> gw[c] = m+1
#endif
#endif
		fi
	}
#if !defined(GATE1) && !defined(NOGATE)
	gw[c] == 0;			/* at most one episode per switch-in */
#endif
BND:	skip;
	/* users and allowed: the bound; single user -> implicit 0 */
	atomic {
		if
		:: users[m] == 1 -> enter(c, m*NID); goto L1
		:: else
		fi;
		B = BOUND(m);
		ownslot(c);
		if
		:: s != NONE && k < B		/* resume, next step */
#ifdef COMPACT
		:: s != NONE -> goto L2
#endif
		:: !(s != NONE && k < B) -> goto L2
		fi
	}
	/* resume: cmpxchg PARKED -> RUNNING on the own line */
#ifdef PLAIN_RESUME
	atomic { if :: C(c,s) == PARKW(m,k) :: else -> goto L2 fi }
	atomic { C(c,s) = RUNW(m,k); cur = s; assert(O(m,k) == c+1); enter(c, m*NID+k) }
	goto USER;
#else
	atomic {
		if
		:: C(c,s) == PARKW(m,k) ->
			C(c,s) = RUNW(m,k); cur = s;
			assert(O(m,k) == c+1); enter(c, m*NID+k); goto L1
		:: else -> goto L2		/* stolen meanwhile */
		fi
	}
#endif
L1:	skip;
progress1: skip; goto USER;
L2:	skip; atomic { pickslot(); k = 0
#ifdef ANYFIRST
		; if
		:: k = 0
		:: B > 1 -> k = 1
		:: B > 2 -> k = 2
		fi
#endif
	}

NEXTK:	/* read owner[k] (acquire) */
	atomic {
		if
		:: k >= B ->
			k = 0;
			if
			:: !locked -> goto SLOW
			:: else ->
				np++;
#ifdef LASTRES
				assert(!last);		/* no id at all */
				if
				:: np < 2 -> B = BOUND(m)
				:: else -> last = 1; mask[m] = mask[m] | (1<<c); B = NID; goto LAST
				fi;
#else
				assert(np < MAXPASS);
				B = BOUND(m);
#endif
				goto L3
			fi
		:: else
		fi;
TRYK:		d = O(m,k); att[c] = m*NID+k+1; j = 0;
		if
		:: d == 0 -> goto CLAIM
		:: d == c+1 ->
			/* own cache, local: only PARKED can be there */
			do
			:: j < NS && C(c,j) != PARKW(m,k) -> j++
			:: else -> break
			od;
			if
			:: j == NS -> j = 0; goto CLAIM
			:: else -> goto OWNRES
			fi
		:: else
		fi
	}
	goto L5;
L3:	skip; goto NEXTK;
#ifdef LASTRES
LAST:	/* cid_break_bound(): all ids there are, under the lock */
#ifdef LAST_NOCLAIM
	skip;
	atomic { C(c,s) = RUNW(m,0); cur = s; enter(c, m*NID); goto UNLOCK }
#else
	skip; goto NEXTK;
#endif
#endif

OWNRES:	/* own parked word with this id */
	skip;
	if
	:: atomic { C(c,j) == PARKW(m,k) ->
		C(c,j) = RUNW(m,k); att[c] = 0; cur = j;
		if
		:: mat -> mat = 0; i = 0; goto L4
		:: else -> assert(O(m,k) == c+1); enter(c, m*NID+k); goto UNLOCK
		fi }
	:: atomic { C(c,j) != PARKW(m,k) -> j = 0; goto CLAIM }
	fi;
L4:	skip; goto FORKED;

SCAN:	/* read one word of d's cache (acquire) */
	atomic {
		if
		:: C(d-1,j) == RUNW(m,k) -> assert(!mat); att[c] = 0; j = 0; k++; goto L3
		:: C(d-1,j) == PARKW(m,k) ->
			if
			:: true
#ifdef POLICY
			:: !locked && !mat -> att[c] = 0; j = 0; k++; goto L3
#endif
			fi
		:: C(d-1,j) != RUNW(m,k) && C(d-1,j) != PARKW(m,k) ->
			j++;
			if
			:: j == NS -> j = 0; goto CLAIM
			:: else -> goto L5
			fi
		fi
	}
	/* steal: cmpxchg PARKED -> EMPTY in d's cache */
	atomic {
		if
		:: C(d-1,j) == PARKW(m,k) -> C(d-1,j) = 0; j = 0
		:: C(d-1,j) == RUNW(m,k) -> assert(!mat); att[c] = 0; j = 0; k++; goto L3
		:: else ->
			j = 0
#ifdef SKIP_LOST
			; if :: !mat -> att[c] = 0; k++; goto L3 :: else fi
#endif
		fi
	}
	goto CLAIM;
L5:	skip; goto SCAN;

CLAIM:	/* tentative RUNNING word in the own cache, then cmpxchg owner[k] */
	skip;
#ifndef LATE_ENTRY
	atomic { true; C(c,s) = RUNW(m,k) }
#else
	skip;
#endif
	atomic {
		if
		:: OWN_OK(c,m,k) ->
			att[c] = 0; O(m,k) = c+1; invalidate(m*NID+k+1); cur = s;
#if NS > 1
			/* at most one entry of an mm per cache */
			j = 0;
			do
			:: j < NS -> if :: j != s && OF_MM(C(c,j), m) -> C(c,j) = 0 :: else fi; j++
			:: else -> break
			od;
			j = 0;
#endif
#ifdef LATE_ENTRY
			goto LATE
#else
			if
			:: mat -> mat = 0; goto FORKED
			:: else -> enter(c, m*NID+k); goto UNLOCK
			fi
#endif
		:: else -> assert(!mat); att[c] = 0
		fi
	}
	atomic { true; 			/* revert */
#ifndef LATE_ENTRY
		C(c,s) = 0;
#endif
		k++ }
	goto NEXTK;
#ifdef LATE_ENTRY
LATE:	skip;
	atomic { C(c,s) = RUNW(m,k);
		if
		:: mat -> mat = 0; goto FORKED
		:: else -> enter(c, m*NID+k); goto UNLOCK
		fi }
#endif

SLOW:	skip;
#ifdef NOLOCK
	atomic { locked = 1; np = 0; B = BOUND(m); pickslot(); k = 0 }
#else
	atomic { lck[m] == 0 -> lck[m] = c+1; locked = 1; np = 0; B = BOUND(m); pickslot(); k = 0 }
#endif
	goto NEXTK;

UNLOCK:	skip;
progress2: atomic { true;
		if
		:: locked -> lck[m] = 0; locked = 0;
#ifdef LASTRES
			last = 0;
#endif
#if !defined(GATE1) && !defined(NOGATE)
			i = 0;
			do
			:: i < NCPU -> if :: gw[i] == m+1 -> gw[i] = 0 :: else fi; i++
			:: else -> break
			od;
			i = 0
#endif
		:: else
		fi }

USER:	/* ---- thread of mm m runs; cur == NONE: implicit 0 ---- */
	if
#ifdef MOVE_ENTRY
	/* BREAK: parks by moving the word from slot 0 to slot 1, no owner bump */
	:: atomic { cur == 0 -> ucid[c] = 0; C(c,1) = C(c,0) - 1 }
		atomic { true -> C(c,0) = 0; cur = NONE; ready[m]++ }
		goto IDLE
#endif
#ifdef ONLINE_RUN
	/* BREAK: clears the words of a CPU that runs a thread with an id */
	:: atomic { cur != NONE -> C(c,cur) = 0; cur = NONE } goto USER
#endif
	/* switch-out to idle, kthread or another mm */
	:: atomic { true -> park(c); ready[m]++ }
		goto IDLE

	/* switch to another thread of the same mm: id is kept unless beyond the bound */
	:: atomic { ready[m] > 0 && cur != NONE && W_ID(C(c,cur)) >= BOUND(m) ->
		ucid[c] = 0; C(c,cur) = 0; cur = NONE }
		goto ACQ

	/* clone(CLONE_VM) */
	:: atomic { nthr < MAXT ->
		nthr++;
		assert(ready[m] == 0 || cur != NONE);
		if
		:: cur != NONE
		:: else ->
			assert(users[m] == 1);
			ownslot(c);
			if :: s == NONE -> pickslot() :: else fi;
			mat = 1; k = 0; B = 1;
#ifdef MAT_NOSTEAL
			C(c,s) = RUNW(m,0); O(m,0) = c+1; invalidate(m*NID+1); cur = s; mat = 0;
#else
			goto MAT
#endif
		fi }
		goto FORKED

	/* fork() of a new process */
	:: atomic { nthr < MAXT && (users[0] == 0 || users[NMM-1] == 0) ->
		if :: users[0] == 0 -> m2 = 0 :: else -> m2 = NMM-1 fi;
		nthr++; users[m2] = 1; ready[m2] = 1; mask[m2] = MASK0(c); m2 = 0 }
		goto USER

	/* exit: drop the id, then users-- */
	:: atomic { true ->
#ifdef EXIT_EARLY_DEC
		nthr--; users[m]-- }
		atomic { true; park(c); users[m]++; leave(m); m = 0 }
#else
		park(c) }
		atomic { nthr--; leave(m); m = 0 }
#endif
		goto IDLE

	/* execve into a fresh mm: drop, switch mm, leave the old one */
	:: atomic { users[0] == 0 || users[NMM-1] == 0 ->
		if :: users[0] == 0 -> m2 = 0 :: else -> m2 = NMM-1 fi;
		mask[m2] = MASK0(c); users[m2] = 1; park(c) }
		atomic { true; leave(m); m = m2; m2 = 0; enter(c, m*NID) }
		goto L1

	/* execve that fails: inactive (but counted), then active again */
	:: atomic { users[m] > 1 -> park(c) }
#ifdef EXEC_DEC
		users[m]--;
		users[m]++;
#endif
		goto ACQ
#ifdef AFF
	:: atomic { mask[m] != ALL -> mask[m] = ALL } goto USER
#endif
	fi;

MAT:	skip;
	atomic { true; goto TRYK }

FORKED:	skip; atomic { true; k = 0; B = 0; s = 0; j = 0; d = 0; users[m]++; ready[m]++ }
	goto USER
}

init {
	byte i;
	atomic {
		users[0] = 1; ready[0] = 1; nthr = 1;
#ifdef LASTRES
		mask[0] = MASK0(0);
#else
		mask[0] = ALL;
#endif
		do
		:: i < NCPU -> run cpu(i); i++
		:: else -> break
		od
	}
}
