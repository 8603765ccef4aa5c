/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: tokens (one per runqueue) in shards, several layouts.
 * Sequentially consistent: one stored state per access to shared data; local
 * work, and accesses under one uncontended right, are folded into the step next
 * to them. Names are those of the code (README has the table).
 *
 * All events are budgeted, so every run ends; a cycle in the state graph is
 * endless activity (checked with -DNP, no progress labels). When nothing can
 * move any more, the monitor looks for lost surplus.
 *
 * What is wider than the code, so that one run stands for more:
 * - A list is the set on[t] == shard + 1: any order.
 * - A linker may use any shard of the layout it read (code: home by trylock,
 *   else the linker's own, else wait at home).
 * - A looker may leave a stale token where it is, or take it off (code: by the
 *   time since its runqueue last had surplus).
 * - A look by a newly idle CPU may pass over any shard (code: all its tokens
 *   stale but fresh), and may end before all were seen.
 * What is the code's:
 * - trd[t]: CPUs whose mark of t is valid (code: mark and seq).
 * - an[l]: the announcement word of a layout, lazy; all bits set in a new one.
 * - idle[c], kick[c]: the idle word; IDLE is 1 0, KICKED is 1 1.
 * - due[c], rnd[c]: the feature was off, or this CPU had no layout. A tick will
 *   come by (code: every tick), and if the CPU is idle something will take it
 *   round its idle loop. The code does not see to the latter: nothing wakes CPUs that went
 *   to sleep meanwhile, and they have not announced themselves (NO_ROUND).
 *
 * Sizes: NC CPUs, NSH0 and NSH1 shards of the two kinds of layouts, BUSY0 CPUs
 * that start with a running task, INIT2 CPUs that start with two, linked.
 * Budgets: NWK wakeups, NSL sleeps, NPR preemptions, NTG toggles, NRS
 * re-shards, NDR own unlinks, NHP times that the last CPU goes off and comes back.
 * Options: PINNED SYNC (kinds of wakeups), NEWIDLE (looks before the CPU is
 * idle), ESTOP (own work may cut a look short anywhere), STALE (a stale token may
 * be left), DIRTY (the note of a failed trylock is read and cleared in two steps).
 *
 * Breaks: OWNER_NOMB DISC_NOLOOK UNL_EARLY HINT_OUT NO_MISSED NO_RELINK NO_SWEEP
 *   FREE_EARLY NO_GP WRONG_LOCK NO_SWEEP_ON NO_TICK IDLE_ORDER PUB_ORDER
 *   SKIP_NOKICK ENQ_ONLY NO_TRIED ANN_ORDER NO_PASS KICK_SPLIT OWN_LOOP NO_OWE
 *   PIN_IDLE MARKS_STAY NEW_ANN_CLEAR NO_OFF_PASS MISSED_BY_LINKER
 *   NO_ROUND
 */
#ifndef NC
#define NC 2
#endif
#ifndef NWK
#define NWK 3
#endif
#ifndef NSL
#define NSL 2
#endif
#ifndef NPR
#define NPR 0
#endif
#ifndef NTG
#define NTG 0
#endif
#ifndef NRS
#define NRS 0
#endif
#ifndef NDR
#define NDR 0
#endif
#ifndef NHP
#define NHP 0
#endif
#ifndef NSH0
#define NSH0 1
#endif
#ifndef NSH1
#define NSH1 1
#endif
#ifndef BUSY0
#define BUSY0 1
#endif
#ifndef INIT2
#define INIT2 0
#endif
#define WKR NC
#define ADM (NC+1)
#define LOFF 2				/* no layout */
#define NSH(l) ((l) -> NSH1 : NSH0)
#define SH(l,c,n) (2*(l) + (((c)+(n)) % NSH(l)))
#define ONS(t,s) (on[t] == (s)+1)
#if NC == 2
#define SOME(s) (ONS(0,s) || ONS(1,s))
#elif NC == 3
#define SOME(s) (ONS(0,s) || ONS(1,s) || ONS(2,s))
#else
#define SOME(s) (ONS(0,s) || ONS(1,s) || ONS(2,s) || ONS(3,s))
#endif
#define ALL ((1<<NC)-1)
#define HASQ(r) (feat && lay[r] != LOFF)	/* hooks do something */

byte nr[NC], nf[NC], np[NC], rt[NC];	/* nr: read without lock; waiting free/pinned; running 1 free 2 pinned */
byte rlk[NC];				/* rq locks */
bit linked[NC];				/* token->state */
byte on[NC];				/* list that token->node is physically on */
byte tsh[NC];				/* token->shard */
byte trd[NC];				/* cpu->mark of others, by cpu->seq */
bit dfr[NC];				/* cpu->deferred */
bit due[NC], rnd[NC];
byte lk[4]; bit hint[4]; bit missed[4];	/* shards 0 1 of layout 0, 2 3 of layout 1 */
bit freed[2] = 0;
byte an[2];				/* layout->ann */
bit idle[NC], kick[NC], asleep[NC], gone[NC], off[NC];
byte lay[NC];				/* cpu->layout */
bit feat = 1;				/* the feature bit */
byte rcum, gpm;				/* read sides, and those a grace period waits for */
byte bsl = NSL, bpr = NPR;

inline rin(rp)  { rcum = rcum | (1<<(rp)) }
inline rout(rp) { rcum = rcum & (255-(1<<(rp))); gpm = gpm & (255-(1<<(rp))) }
inline seq(sr) { trd[sr] = 0 }		/* the waiting set changed: marks end */

inline swq_unlink(ut, us, up) {		/* under lk[s] */
	assert(lk[us] == (up)+1 && ONS(ut,us) && linked[ut] && tsh[ut] == us && !freed[(us)/2]);
	on[ut] = 0; linked[ut] = 0
}

inline swq_kick(kl, kn) {
	atomic { assert(!freed[kl]); b = an[kl] & (255 - (1<<(kn))); i = 0 }
	do
	:: atomic { i == NC -> break }
	:: atomic { i < NC && !((b>>i)&1) -> i++ }
	/* swq_kick_bit(): the bit first, then the word */
#ifdef ANN_ORDER
	:: atomic { i < NC && ((b>>i)&1) -> y = idle[i] && !kick[i] }
		atomic { assert(!freed[kl]); an[kl] = an[kl] & (255-(1<<i));
			if :: y && idle[i] -> kick[i] = 1; y = 0; break :: else -> y = 0; i++ fi }
#else
	:: atomic { i < NC && ((b>>i)&1) && !((an[kl]>>i)&1) -> i++ }
	:: atomic { i < NC && ((b>>i)&1) && ((an[kl]>>i)&1) -> assert(!freed[kl]); an[kl] = an[kl] & (255-(1<<i)) }
#ifdef KICK_SPLIT
		atomic { y = idle[i] && !kick[i] }
		atomic { if :: y -> y = 0; kick[i] = 1; break :: else -> i++ fi }
#else
		atomic { if :: idle[i] && !kick[i] -> kick[i] = 1; break :: else -> i++ fi }
#endif
#endif
	od;
	atomic { i = 0; b = 0 }
}

/* After an unlock: did a sleeper fail to get the lock? */
inline swq_missed(ml, ms, mn) {
	if
#ifdef DIRTY
	:: atomic { missed[ms] -> assert(!freed[ml]) }
		missed[ms] = 0;
#else
	:: atomic { missed[ms] -> assert(!freed[ml]); missed[ms] = 0 }
#endif
		if :: atomic { SOME(ms) -> skip } swq_kick(ml, mn) :: atomic { !SOME(ms) -> skip } fi
	:: atomic { !missed[ms] -> assert(!freed[ml]) }
	fi
}

/* Holds rlk[r], in a read side; the counts are written. */
inline swq_publish(zr, zp, zn, zq) {
	if
	:: atomic { !HASQ(zr) -> skip }
	:: atomic { HASQ(zr) -> pl = lay[zr]; assert(!freed[pl]) }
#ifdef PUB_ORDER
		if :: atomic { !(zq) -> skip } swq_kick(pl, zr) :: atomic { zq -> skip } fi;
#endif
		if
#ifdef OWNER_NOMB
		:: atomic { seen -> skip }
		:: atomic { !seen ->
#else
		:: atomic { linked[zr] -> skip }
		:: atomic { !linked[zr] ->
#endif
			/* swq_link() */
			if :: ps = SH(pl,zr,0)
			   :: NSH(pl) > 1 -> ps = SH(pl,zr,1)
			fi }
			atomic { lk[ps] == 0 -> assert(!freed[pl]); lk[ps] = (zp)+1 }
			/* swq_link_on() */
			if :: atomic { linked[zr] -> skip }	/* only OWNER_NOMB gets here */
			:: atomic { !linked[zr] ->
				assert(on[zr] == 0 && rlk[zr] == (zp)+1);
				on[zr] = ps+1; linked[zr] = 1; tsh[zr] = ps } fi;
			lk[ps] = 0;
#ifndef MISSED_BY_LINKER
			swq_missed(pl, ps, zn);
#endif
			/* swq_hint_set() */
			if
			:: atomic { hint[ps] -> assert(!freed[pl]) }
			:: atomic { !hint[ps] -> assert(!freed[pl]) }  hint[ps] = 1
			fi;
#ifdef SKIP_NOKICK
			atomic { y = 1 }
#else
			skip
#endif
		fi;
#ifdef SKIP_NOKICK
		if :: atomic { y && !(zq) -> y = 0 } swq_kick(pl, zr) :: atomic { !y || zq -> y = 0 } fi
#elif !defined(PUB_ORDER)
		if :: atomic { !(zq) -> skip } swq_kick(pl, zr) :: atomic { zq -> skip } fi
#else
		skip
#endif
	fi;
	atomic { pl = 0; ps = 0 }
}

/* swq_idle_exit(): one xchg of the own word to BUSY; pk: a kick came, or is owed, and is passed on */
inline leave(lc) {
	idle[lc] = 0;
#ifndef NO_PASS
	pk = kick[lc] || owe;
#endif
	kick[lc] = 0; owe = 0
}

/* Put in on a runqueue whose lock is held: the task is counted, then swqueue_enqueued(). */
inline enqueued(q, w, nb, pn, sy) {
	atomic { nr[q]++; if :: (pn) -> np[q]++ :: else -> nf[q]++ fi; dec = 0;
		if
		:: !HASQ(q) || nr[q] < 2
		/* swqueue_defer() */
		:: HASQ(q) && nr[q] == 2 && (sy) && rt[q] != 0 && !dfr[q] -> dfr[q] = 1
		:: HASQ(q) && nr[q] >= 2 && !(nr[q] == 2 && (sy) && rt[q] != 0 && !dfr[q]) ->
			if
#ifdef PIN_IDLE				/* also while the CPU is still being woken */
			:: (pn)
#else
			:: (pn) && rt[q] != 0
#endif
			:: else -> dec = 1; seq(q); dfr[q] = 0
			fi
		fi }
	if
	:: atomic { dec -> dec = 0 } swq_publish(q, w, nb, 0)
	:: atomic { !dec -> skip }
	fi
}

proctype cpu(byte c) {
	byte l, s, n, i, b, t, vm, pl, ps;
	bit x, y, got, seen, pk, owe, dec, nw;

PICK:	/* __schedule(): the CPU has nothing running */
	atomic { rlk[c] == 0 -> rlk[c] = c+1; rin(c); nw = 0;
		if
		:: nf[c] > 0 -> nf[c]--; rt[c] = 1; leave(c)
		:: np[c] > 0 -> np[c]--; rt[c] = 2; leave(c)
		:: nf[c] + np[c] == 0 -> rlk[c] = 0; rout(c); dfr[c] = 0;
			if
			:: goto IDLE
#ifdef NEWIDLE
			:: feat && !off[c] && lay[c] != LOFF -> nw = 1; rin(c); l = lay[c]; goto NEXTS
#endif
			fi
		fi }
	if
	:: atomic { pk && lay[c] != LOFF -> pk = 0; l = lay[c] } swq_kick(l, c)
	:: atomic { !pk || lay[c] == LOFF -> pk = 0 }
	fi;
LEFT:	/* swq_switched() or swq_ticked() */
	if
	:: atomic { feat && (dfr[c] || due[c]) && nr[c] >= 2 -> dfr[c] = 0; due[c] = 0;
#ifndef MARKS_STAY
		seq(c);
#endif
		seen = linked[c] } swq_publish(c, c, c, 0)
	:: atomic { !(feat && (dfr[c] || due[c]) && nr[c] >= 2) ->
		if :: feat -> dfr[c] = 0; due[c] = 0 :: else fi }
	fi;
	atomic { rlk[c] = 0; rout(c); seen = 0; l = 0 }

RUN:	if
	:: atomic { bsl > 0 && rlk[c] == 0 && !off[c] -> bsl--; rlk[c] = c+1; rt[c] = 0; nr[c]-- }
		atomic { rlk[c] = 0; goto PICK }	/* nobody can look in between that matters: folded */
	:: atomic { bpr > 0 && nf[c]+np[c] > 0 && rlk[c] == 0 && !off[c] -> bpr--; rlk[c] = c+1; rin(c); seen = linked[c];
		/* swq_switched() with SWQ_EV_PUT_BACK */
		if
		:: nf[c] > 0 -> nf[c]--; x = 0
		:: np[c] > 0 -> np[c]--; x = 1
		fi;
		if
		:: rt[c] == 1 -> nf[c]++
		:: else -> np[c]++
		fi;
#ifndef ENQ_ONLY
		if :: feat -> seq(c) :: else fi;
#endif
		if :: feat -> dfr[c] = 0 :: else fi;
		rt[c] = 1 + x; x = 0 }
		swq_publish(c, c, c, 0);
		atomic { rlk[c] = 0; rout(c); seen = 0; goto RUN }
	:: atomic { feat && rlk[c] == 0 && !off[c] && (due[c]
#ifndef NO_TICK
		|| dfr[c]
#endif
		) -> rlk[c] = c+1; rin(c); goto LEFT }
#if NHP > 0
	:: atomic { off[c] -> goto DYING }
#endif
	fi;

#if NHP > 0
DYING:	/* the stopper pushes everything away, then the CPU is idle and dies */
	atomic { rlk[c] == 0 -> n = 0;
		if
		:: nf[c] > 0 -> nf[c]--; nr[c]--; n = 1
		:: nf[c] == 0 && np[c] > 0 -> np[c]--; nr[c]--; n = 1
		:: nf[c] + np[c] == 0 && rt[c] != 0 -> rt[c] = 0; nr[c]--; n = 1
		:: nf[c] + np[c] == 0 && rt[c] == 0 -> n = 0
		fi;
		dfr[c] = 0 }
	if
	:: atomic { n == 1 -> n = 0 }
		atomic { rlk[0] == 0 -> rlk[0] = c+1; rin(c); seen = linked[0] }
		enqueued(0, c, c, 0, 0);
		atomic { rlk[0] = 0; rout(c); seen = 0; goto DYING }
	:: atomic { n == 0 -> rin(c);
#ifdef NO_OFF_PASS
		idle[c] = 0; kick[c] = 0; owe = 0
#else
		leave(c)
#endif
		}
		if
		:: atomic { pk && lay[c] != LOFF -> pk = 0; l = lay[c] } swq_kick(l, c)
		:: atomic { !pk || lay[c] == LOFF -> pk = 0 }
		fi;
		atomic { rout(c); l = 0 }
		if
		:: atomic { nr[c] > 0 -> goto DYING }
		:: atomic { nr[c] == 0 -> gone[c] = 1; asleep[c] = 0 }
		fi
	fi;
	atomic { !off[c] -> gone[c] = 0; goto PICK }
#endif

IDLE:	/* swq_idle_enter(): IDLE is set; announce, then look once more */
	atomic {
		if
		:: HASQ(c) && !off[c] -> rin(c); l = lay[c]; idle[c] = 1; rnd[c] = 0
		:: else -> goto NOTHING
		fi
	}
#ifdef IDLE_ORDER
	goto LOOK;
ANNL:	atomic { assert(!freed[l]); an[l] = an[l] | (1<<c) }
	goto DONE;
#else
	if
	:: atomic { ((an[l]>>c)&1) -> assert(!freed[l]) }
	:: atomic { !((an[l]>>c)&1) -> assert(!freed[l]) }
		atomic { assert(!freed[l]); an[l] = an[l] | (1<<c) }
	fi;
#endif
LOOK:	atomic { n = 0 }		/* swq_look(): all shards from the own one on */
NEXTS:	atomic {
		if
		:: n >= NSH(l) ->
#ifdef IDLE_ORDER
			if :: !nw -> goto ANNL :: else fi;
#endif
			if :: !nw -> owe = 0 :: else fi; goto DONE
		:: else
		fi;
		if
		:: true
		:: nw -> goto DONE		/* visits are limited there */
#ifdef ESTOP
		:: nr[c] > 0 -> goto DONE
#endif
		fi;
		assert(!freed[l]);
		s = SH(l,c,n);
		if
		:: !hint[s] -> n++; goto L1
		:: hint[s] && nw -> n++; goto L1	/* swq_leave_alone() */
		:: hint[s]
		fi
	}
	if
	:: atomic { n == 0 && lk[s] == 0 -> assert(!freed[l]); lk[s] = c+1 }	/* own shard: may wait */
	:: atomic { n > 0 -> assert(!freed[l]); if :: lk[s] == 0 -> lk[s] = c+1; goto WALK :: else fi }
#ifdef NO_MISSED
		atomic { n++; goto NEXTS }
#else
		if
		:: atomic { nw -> n++; goto NEXTS }
		:: atomic { !nw -> skip }
		fi;
		atomic { assert(!freed[l]); missed[s] = 1 }
		atomic { assert(!freed[l]); if :: lk[s] == 0 -> lk[s] = c+1 :: else -> n++; goto NEXTS fi }
#endif
	fi;
	goto WALK;
L1:	skip; goto NEXTS;

WALK:	/* swq_look_locked() */
	atomic {
		assert(!freed[l]);
		if
		:: ONS(0,s) && !(vm & 1) -> t = 0
		:: ONS(1,s) && !(vm & 2) -> t = 1
#if NC > 2
		:: ONS(2,s) && !(vm & 4) -> t = 2
#endif
#if NC > 3
		:: ONS(3,s) && !(vm & 8) -> t = 3
#endif
		:: else -> goto ENDW
		fi;
	}
	/* ops->surplus(), without the lock of that runqueue */
	if
#ifdef NO_TRIED
	:: atomic { nr[t] >= 2 && t == c -> vm = vm | (1<<t) } goto L2
	:: atomic { nr[t] >= 2 && t != c -> skip }
#else
	:: atomic { nr[t] >= 2 && (t == c || ((trd[t]>>c)&1)) -> vm = vm | (1<<t) } goto L2
	:: atomic { nr[t] >= 2 && !(t == c || ((trd[t]>>c)&1)) -> skip }
#endif
#ifdef UNL_EARLY
		linked[t] = 0;
		atomic { true; assert(ONS(t,s)); on[t] = 0 }
#else
		atomic { true; swq_unlink(t, s, c) }
#endif
		goto TAKEN
#ifdef STALE
	:: atomic { nr[t] < 2 -> vm = vm | (1<<t) } goto L2	/* !swq_dormant() */
#endif
	:: atomic { nr[t] < 2 -> skip }		/* swq_discard(): unlink, then look again */
#ifdef UNL_EARLY
		linked[t] = 0;
		atomic { true; assert(ONS(t,s)); on[t] = 0 }
#else
		atomic { true; swq_unlink(t, s, c) }
#endif
#ifndef DISC_NOLOOK
		atomic { if :: nr[t] >= 2 -> goto TAKEN :: else fi }
#endif
	fi;
L2:	skip; goto WALK;

TAKEN:	/* swq_hint_clear_if_empty(), swq_unlock() */
	atomic { vm = 0; if :: !SOME(s) -> hint[s] = 0 :: else fi }
	lk[s] = 0;
	swq_missed(l, s, c);
	/* swqueue_visit(): who pops, visits; interrupts stay off, no rq lock held */
	atomic { rlk[t] == 0 -> rlk[t] = c+1; got = 0; seen = linked[t] }
	if
	:: atomic { t != c && nr[t] >= 2 && nf[t] > 0 -> nf[t]--; nr[t]--; got = 1 }
		if
		:: atomic { nr[t] >= 2 -> skip }
#ifndef NO_RELINK
			swq_publish(t, c, c, 0)
#endif
		:: atomic { nr[t] < 2 -> skip }
		fi
	:: atomic { t != c && nr[t] >= 2 && nf[t] == 0 -> trd[t] = trd[t] | (1<<c) }
#ifdef NO_TRIED
		swq_publish(t, c, c, 0)
#else
		swq_publish(t, c, c, 1)
#endif
	:: atomic { t == c && nr[t] >= 2 -> skip }
		swq_publish(t, c, c, 0)
	:: atomic { nr[t] < 2 -> skip }
	fi;
	atomic { rlk[t] = 0; t = 0; s = 0; n = 0; seen = 0 }
	if
	:: atomic { got -> got = 0 }
		/* swqueue_attach_task() */
		atomic { rlk[c] == 0 -> rlk[c] = c+1; seen = linked[c] }
		enqueued(c, c, c, 0, 0);
		atomic { rlk[c] = 0; rout(c); seen = 0; l = 0; if :: !nw -> owe = 0 :: else fi; goto PICK }
#ifdef OWN_LOOP
	:: atomic { !got -> goto LOOK }
#else
	:: atomic { !got -> if :: nr[c] > 0 -> goto DONE :: else -> goto LOOK fi }
#endif
	fi;

ENDW:	skip;
#ifdef HINT_OUT
	atomic { vm = 0; x = SOME(s) }
	lk[s] = 0;
	atomic { if :: !x -> hint[s] = 0 :: else fi; x = 0 }
#else
	atomic { vm = 0; if :: !SOME(s) -> hint[s] = 0 :: else fi }
	lk[s] = 0;
#endif
	swq_missed(l, s, c);
	atomic { n++; s = 0; t = 0; goto NEXTS }

DONE:	atomic { rout(c); n = 0; s = 0; l = 0; t = 0;
		if
		:: nw -> nw = 0; if :: nr[c] > 0 -> goto PICK :: else -> goto IDLE fi
		:: else
		fi }
NOTHING: skip;
	asleep[c] = 1;
	if
#ifdef OWN_LOOP
	:: atomic { kick[c] && !off[c] -> kick[c] = 0; asleep[c] = 0; goto IDLE }
#else		/* own work first; leaving idle passes the kick on */
	:: atomic { kick[c] && nr[c] == 0 && !off[c] -> kick[c] = 0; asleep[c] = 0;
#ifndef NO_OWE
		owe = 1;		/* until a look is completed or brings a task */
#endif
		goto IDLE }
#endif
	:: atomic { nr[c] > 0 && !off[c] -> asleep[c] = 0; goto PICK }
#ifndef NO_ROUND
	:: atomic { rnd[c] && feat && nr[c] == 0 && lay[c] != LOFF && !off[c] -> asleep[c] = 0; goto IDLE }
#endif
#if NHP > 0
	:: atomic { off[c] -> asleep[c] = 0; goto DYING }
#endif
	fi
}

proctype waker() {
	byte left = NWK, dr = NDR, r, i, b, pl, ps;
	bit y, sync, pin, seen, dec;
W0:	if
	:: atomic { left > 0 -> left--; sync = 0; pin = 0;
		if
		:: !off[0] -> r = 0
		:: !off[1] -> r = 1
#if NC > 2
		:: !off[2] -> r = 2
#endif
#if NC > 3
		:: !off[3] -> r = 3
#endif
		fi;
		if :: pin = 0
#ifdef PINNED
		:: NHP == 0 || r != NC-1 -> pin = 1
#endif
		fi;
		if :: sync = 0
#ifdef SYNC
		:: sync = 1
#endif
		fi }
		if
		:: atomic { rlk[r] == 0 && !off[r] -> rlk[r] = WKR+1; rin(WKR); seen = linked[r] }
		:: atomic { off[r] -> r = 0; rlk[0] == 0 -> rlk[0] = WKR+1; rin(WKR); seen = linked[0] }
		fi;
		enqueued(r, WKR, r, pin, sync);
		atomic { rlk[r] = 0; rout(WKR); r = 0; sync = 0; pin = 0; seen = 0; goto W0 }
	:: atomic { dr > 0 -> dr--;		/* swq_unlink_own(): follows token->shard */
		if :: r = 0 :: r = 1 fi }
		atomic { rlk[r] == 0 -> rlk[r] = WKR+1; rin(WKR) }
		if
		:: atomic { linked[r] && nr[r] < 2 ->
#ifdef WRONG_LOCK
			ps = SH(lay[r],r,0)
#else
			ps = tsh[r]
#endif
			}
			atomic { lk[ps] == 0 -> assert(!freed[ps/2]); lk[ps] = WKR+1 }
			atomic { if :: linked[r] -> swq_unlink(r, ps, WKR); if :: !SOME(ps) -> hint[ps] = 0 :: else fi :: else fi }
			lk[ps] = 0;
			pl = ps/2;
			swq_missed(pl, ps, r)
		:: atomic { !(linked[r] && nr[r] < 2) -> skip }
		fi;
		atomic { rlk[r] = 0; rout(WKR); r = 0; ps = 0; pl = 0; goto W0 }
	fi
}

inline swq_sweep() {
	j = 0;
	do
	:: atomic { j == NC -> break }
	:: atomic { j < NC && rlk[j] == 0 -> rlk[j] = ADM+1; rin(ADM); seen = linked[j] }
		if
		:: atomic { nr[j] >= 2 -> skip } swq_publish(j, ADM, j, 0)
		:: atomic { nr[j] < 2 -> skip }
		fi;
		atomic { rlk[j] = 0; rout(ADM); seen = 0; j++ }
	od;
	j = 0
}

inline swq_drain_shard(q) {
	atomic { lk[q] == 0 -> assert(!freed[(q)/2]); lk[q] = ADM+1 }
	j = 0;
	do
	:: atomic { j == NC -> break }
	:: atomic { j < NC -> if :: ONS(j,q) -> swq_unlink(j, q, ADM) :: else fi; j++ }
	od;
	atomic { lk[q] = 0; j = 0 }
}

/* swq_replace(): from layout o to the other one; without the last CPU if xc */
inline swq_replace(o, xc) {
	atomic {
		freed[1-o] = 0; hint[2*(1-o)] = 0; hint[2*(1-o)+1] = 0;
		missed[2*(1-o)] = 0; missed[2*(1-o)+1] = 0;
#ifdef NEW_ANN_CLEAR
		an[1-o] = 0;
#else
		an[1-o] = ALL;
#endif
		j = 0 }
	do
	:: atomic { j == NC -> break }
	:: atomic { j < NC -> if :: xc && j == NC-1 :: else -> if :: lay[j] == LOFF -> due[j] = 1; rnd[j] = 1 :: else fi; lay[j] = 1-o fi; j++ }
	od;
	/* CPUs that are in no new layout */
	atomic { j = 0; if :: lay[NC-1] == o -> lay[NC-1] = LOFF :: else fi }
#ifndef NO_GP
	atomic { true; gpm = rcum }
	gpm == 0;
#endif
	swq_drain_shard(2*o);
	if
	:: atomic { NSH(o) > 1 -> skip } swq_drain_shard(2*o+1)
	:: atomic { NSH(o) == 1 -> skip }
	fi;
#ifndef NO_SWEEP
	swq_sweep();
#endif
#ifndef FREE_EARLY
	atomic { true; gpm = rcum }
	gpm == 0;
#endif
	atomic { freed[o] = 1; assert(!SOME(2*o) && !SOME(2*o+1) && lk[2*o] == 0 && lk[2*o+1] == 0); o = 1-o }
}

proctype admin() {
	byte tg = NTG, rs = NRS, hp = NHP, i, j, b, pl, ps, o;
	bit y, seen, xc;
A0:	if
	:: atomic { tg > 0 -> tg--; feat = !feat;
		if
		:: feat -> j = 0;
			do
			:: j < NC -> rnd[j] = 1;
#ifndef NO_SWEEP_ON
				due[j] = 1;
#endif
				j++
			:: else -> j = 0; break
			od
		:: else
		fi;
		goto A0 }
	:: atomic { rs > 0 -> rs-- }
		swq_replace(o, xc);
		goto A0
#if NHP > 0
	:: atomic { hp > 0 && !xc -> hp--; off[NC-1] = 1; xc = 1 }
		swq_replace(o, xc);
		goto A0
	:: atomic { xc && gone[NC-1] -> off[NC-1] = 0; xc = 0 }
		swq_replace(o, xc);
		goto A0
#endif
	fi
}

#ifdef NOLOST	/* look for the other assertions only */
#define LOST(r,c) 0
#else
#define LOST(r,c) (nf[r] > 0 && nr[r] >= 2 && asleep[c] && !kick[c] && nr[c] == 0 && !off[c] && lay[c] != LOFF && lay[r] == lay[c])
#endif
proctype monitor() {
end:	timeout ->
	atomic {
		assert(!feat || !LOST(0,1)); assert(!feat || !LOST(1,0));
		assert(rlk[0] == 0 && rlk[1] == 0 && lk[0] == 0 && lk[1] == 0 && lk[2] == 0 && lk[3] == 0 && rcum == 0);
		assert(linked[0] == (on[0] != 0) && linked[1] == (on[1] != 0));
		assert(!linked[0] || hint[tsh[0]]); assert(!linked[1] || hint[tsh[1]]);
#if NC > 2
		assert(!feat || !LOST(0,2)); assert(!feat || !LOST(2,0));
		assert(!feat || !LOST(1,2)); assert(!feat || !LOST(2,1));
		assert(rlk[2] == 0 && linked[2] == (on[2] != 0)); assert(!linked[2] || hint[tsh[2]]);
#endif
#if NC > 3
		assert(!feat || !LOST(0,3)); assert(!feat || !LOST(1,3)); assert(!feat || !LOST(2,3));
		assert(!feat || !LOST(3,0)); assert(!feat || !LOST(3,1)); assert(!feat || !LOST(3,2));
		assert(rlk[3] == 0 && linked[3] == (on[3] != 0)); assert(!linked[3] || hint[tsh[3]]);
#endif
	}
}

init {
	byte i;
	atomic {
		an[0] = ALL; freed[1] = 1;
		do
		:: i < INIT2 -> nr[i] = 2; nf[i] = 2; linked[i] = 1; on[i] = 1; tsh[i] = 0; hint[0] = 1; i++
		:: i >= INIT2 && i < BUSY0 -> nr[i] = 1; nf[i] = 1; i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < NC -> run cpu(i); i++
		:: else -> break
		od;
		i = 0;
		run waker();
		if :: NTG + NRS + NHP > 0 -> run admin() :: else fi;
		run monitor()
	}
}
