package ui

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Key names a resource: the name of its CRD, its namespace ("" if it has none) and its
// name.
type Key struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A Row is what lists show of a resource.
type Row struct {
	Key
	Created time.Time `json:"created"`
	// State is the word of the state that it is listed under.
	State string `json:"state"`
	// Ready is the status of the condition Ready: True, False or Unknown.
	Ready   string `json:"ready"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Paused says which button the page has for it.
	Paused bool `json:"paused,omitempty"`
}

// A Change is what is new in a table since the last one.
type Change struct {
	// States are those that rows may have, the worst first; the first change has them.
	States []verdict.Meaning `json:"states,omitempty"`
	Rows   []Row             `json:"rows,omitempty"`
	Gone   []Key             `json:"gone,omitempty"`
	// Ready: all of the first lists were read, and rows so far are all that there are.
	Ready bool `json:"ready,omitempty"`
	// Unread says what cannot be listed; it is all of that, whenever it changes.
	Unread []string `json:"unread,omitzero"`
}

// A Table is the rows of a cluster as they are now. Several goroutines may use it.
type Table struct {
	mu        sync.Mutex
	rows      map[Key]Row
	followers map[*Follower]bool
	ready     bool
	// unread says why a kind cannot be listed; changed counts its changes.
	unread  map[string]string
	changed int
}

// NewTable makes an empty table.
func NewTable() *Table {
	return &Table{rows: map[Key]Row{}, followers: map[*Follower]bool{}, unread: map[string]string{}}
}

// Put sets a row. A row that is as it was is no news.
func (t *Table) Put(row Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, there := t.rows[row.Key]; there && last == row {
		return
	}
	t.rows[row.Key] = row
	t.markChanged(row.Key)
}

// Drop takes a row out.
func (t *Table) Drop(key Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, there := t.rows[key]; !there {
		return
	}
	delete(t.rows, key)
	t.markChanged(key)
}

// Ready says that all of the first lists were read.
func (t *Table) Ready() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ready {
		t.ready = true
		t.wakeFollowers()
	}
}

// Unread says why a kind cannot be listed; "" is that it can. The kind "" is that of CRDs.
func (t *Table) Unread(kind, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unread[kind] == text {
		return
	}
	if t.unread[kind] = text; text == "" {
		delete(t.unread, kind)
	}
	t.changed++
	t.wakeFollowers()
}

// markChanged marks a row as news for all followers, and wakes them.
func (t *Table) markChanged(key Key) {
	for f := range t.followers {
		f.news[key] = true
	}
	t.wakeFollowers()
}

// wakeFollowers wakes the followers that wait.
func (t *Table) wakeFollowers() {
	for f := range t.followers {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// A Follower is told what changes in a table. One that is slow is told the newest state
// of each row only, so it costs no more than a table.
type Follower struct {
	table *Table
	news  map[Key]bool // guarded by the table's mutex
	wake  chan struct{}
	// ready and changed are what it was told of the table.
	ready   bool
	changed int
	began   bool
}

// Follow makes a follower, which is told of all rows first. Leave ends it.
func (t *Table) Follow() *Follower {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &Follower{table: t, news: map[Key]bool{}, wake: make(chan struct{}, 1)}
	for key := range t.rows {
		f.news[key] = true
	}
	f.wake <- struct{}{}
	t.followers[f] = true
	return f
}

// Leave ends a follower.
func (f *Follower) Leave() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	delete(f.table.followers, f)
}

// Next waits until something changes, and says what. It fails only with the context.
func (f *Follower) Next(ctx context.Context) (Change, error) {
	select {
	case <-ctx.Done():
		return Change{}, ctx.Err()
	case <-f.wake:
	}
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	var change Change
	if !f.began {
		f.began, change.States = true, health.ResourceMeanings()
	}
	for key := range f.news {
		if row, there := f.table.rows[key]; there {
			change.Rows = append(change.Rows, row)
		} else {
			change.Gone = append(change.Gone, key)
		}
	}
	clear(f.news)
	change.Ready = f.table.ready && !f.ready
	if f.changed != f.table.changed {
		change.Unread = append([]string{}, slices.Sorted(maps.Values(f.table.unread))...)
	}
	f.ready, f.changed = f.table.ready, f.table.changed
	slices.SortFunc(change.Rows, func(a, b Row) int { return a.compareTo(b.Key) })
	slices.SortFunc(change.Gone, Key.compareTo)
	return change, nil
}

// compareTo orders keys by kind, namespace and name.
func (k Key) compareTo(with Key) int {
	return cmp.Or(strings.Compare(k.Kind, with.Kind), strings.Compare(k.Namespace, with.Namespace), strings.Compare(k.Name, with.Name))
}
