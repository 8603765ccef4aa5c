/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doubly linked lists with the sanity checks of CONFIG_DEBUG_LIST: neighbours
 * must agree before any change, and a removed node is poisoned.
 */
#ifndef _LINUX_LIST_H
#define _LINUX_LIST_H

#include <linux/types.h>
#include <linux/kernel.h>

#define LIST_POISON1	((struct list_head *)0x100)
#define LIST_POISON2	((struct list_head *)0x122)

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	WRITE_ONCE(l->next, l);
	WRITE_ONCE(l->prev, l);
}

static inline void sim_list_check_del(const struct list_head *e)
{
	if (e->next == LIST_POISON1 || e->prev == LIST_POISON2)
		sim_bug_at("list_del corruption: %p was removed already", e);
	if (!e->next || !e->prev)
		sim_bug_at("list_del corruption: %p was never linked", e);
	if (e->prev->next != e || e->next->prev != e)
		sim_bug_at("list_del corruption: neighbours of %p do not name it", e);
}

static inline void sim_list_insert(struct list_head *n, struct list_head *prev,
				   struct list_head *next)
{
	if (next->prev != prev || prev->next != next)
		sim_bug_at("list_add corruption: %p and %p are no neighbours", prev, next);
	if (n == prev || n == next)
		sim_bug_at("list_add corruption: %p added twice", n);
	next->prev = n;
	n->next = next;
	n->prev = prev;
	WRITE_ONCE(prev->next, n);
}

static inline void list_add(struct list_head *n, struct list_head *head)
{
	sim_list_insert(n, head, head->next);
}

static inline void list_add_tail(struct list_head *n, struct list_head *head)
{
	sim_list_insert(n, head->prev, head);
}

static inline void sim_list_unlink(struct list_head *e)
{
	sim_list_check_del(e);
	e->next->prev = e->prev;
	WRITE_ONCE(e->prev->next, e->next);
}

static inline void list_del(struct list_head *e)
{
	sim_list_unlink(e);
	e->next = LIST_POISON1;
	e->prev = LIST_POISON2;
}

static inline void list_del_init(struct list_head *e)
{
	sim_list_unlink(e);
	INIT_LIST_HEAD(e);
}

static inline void list_move(struct list_head *e, struct list_head *head)
{
	sim_list_unlink(e);
	list_add(e, head);
}

static inline void list_move_tail(struct list_head *e, struct list_head *head)
{
	sim_list_unlink(e);
	list_add_tail(e, head);
}

static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline bool list_empty_careful(const struct list_head *head)
{
	struct list_head *next = smp_load_acquire(&head->next);

	return next == head && next == READ_ONCE(head->prev);
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline bool list_is_last(const struct list_head *e, const struct list_head *head)
{
	return e->next == head;
}

static inline bool list_is_first(const struct list_head *e, const struct list_head *head)
{
	return e->prev == head;
}

static inline bool list_is_head(const struct list_head *e, const struct list_head *head)
{
	return e == head;
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	INIT_LIST_HEAD(from);
}

static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	if (list_empty(from))
		return;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	from->next->prev = to;
	to->next = from->next;
	INIT_LIST_HEAD(from);
}

static inline void list_replace_init(struct list_head *old, struct list_head *n)
{
	n->next = old->next;
	n->next->prev = n;
	n->prev = old->prev;
	n->prev->next = n;
	INIT_LIST_HEAD(old);
}

static inline size_t list_count_nodes(struct list_head *head)
{
	struct list_head *p;
	size_t n = 0;

	for (p = head->next; p != head; p = p->next)
		n++;
	return n;
}

#define list_entry(p, t, m)		container_of(p, t, m)
#define list_first_entry(h, t, m)	list_entry((h)->next, t, m)
#define list_last_entry(h, t, m)	list_entry((h)->prev, t, m)
#define list_next_entry(p, m)		list_entry((p)->m.next, typeof(*(p)), m)
#define list_prev_entry(p, m)		list_entry((p)->m.prev, typeof(*(p)), m)
/* By address alone: the entry of a head is none, and may be misaligned. */
#define list_entry_is_head(p, h, m)	\
	((char *)(p) + offsetof(typeof(*(p)), m) == (char *)(h))
#define list_first_entry_or_null(h, t, m)				\
({									\
	struct list_head *sim_h = (h), *sim_f = READ_ONCE(sim_h->next);	\
									\
	sim_f != sim_h ? list_entry(sim_f, t, m) : NULL;		\
})

#define list_for_each(p, h)						\
	for ((p) = (h)->next; (p) != (h); (p) = (p)->next)
#define list_for_each_safe(p, n, h)					\
	for ((p) = (h)->next, (n) = (p)->next; (p) != (h); (p) = (n), (n) = (p)->next)
#define list_for_each_prev(p, h)					\
	for ((p) = (h)->prev; (p) != (h); (p) = (p)->prev)
#define list_for_each_entry(p, h, m)					\
	for ((p) = list_first_entry(h, typeof(*(p)), m);		\
	     !list_entry_is_head(p, h, m); (p) = list_next_entry(p, m))
#define list_for_each_entry_safe(p, n, h, m)				\
	for ((p) = list_first_entry(h, typeof(*(p)), m),		\
	     (n) = list_next_entry(p, m);				\
	     !list_entry_is_head(p, h, m);				\
	     (p) = (n), (n) = list_next_entry(n, m))
#define list_for_each_entry_reverse(p, h, m)				\
	for ((p) = list_last_entry(h, typeof(*(p)), m);			\
	     !list_entry_is_head(p, h, m); (p) = list_prev_entry(p, m))
#define list_for_each_entry_continue(p, h, m)				\
	for ((p) = list_next_entry(p, m);				\
	     !list_entry_is_head(p, h, m); (p) = list_next_entry(p, m))
#define list_for_each_entry_from(p, h, m)				\
	for (; !list_entry_is_head(p, h, m); (p) = list_next_entry(p, m))

#endif
