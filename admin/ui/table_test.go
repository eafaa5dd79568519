package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/admin/health"
)

func row(name, ready string) Row {
	return Row{Key: Key{Kind: "webs.example.com", Name: name}, Ready: ready}
}

func next(t *testing.T, f *Follower) Change {
	t.Helper()
	change, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return change
}

// TestFollow: a follower is told of all rows, then of changes alone, the newest of each.
func TestFollow(t *testing.T) {
	table := NewTable()
	table.Put(row("b", "False"))
	table.Put(row("a", "True"))
	f := table.Follow()
	defer f.Leave()
	want := Change{States: health.ResourceMeanings(), Rows: []Row{row("a", "True"), row("b", "False")}}
	if diff := cmp.Diff(want, next(t, f)); diff != "" {
		t.Error(diff)
	}
	table.Put(row("a", "True")) // as it was
	table.Put(row("b", "Unknown"))
	table.Put(row("b", "True"))
	table.Put(row("c", "False"))
	table.Drop(row("c", "").Key)
	table.Drop(row("d", "").Key) // never was
	want = Change{Rows: []Row{row("b", "True")}, Gone: []Key{row("c", "").Key}}
	if diff := cmp.Diff(want, next(t, f)); diff != "" {
		t.Error(diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if change, err := f.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing is new, and it tells %v, %v", change, err)
	}
}

// TestFollowers: whatever happens at the same time, each follower ends with the table.
func TestFollowers(t *testing.T) {
	const rows, rounds, followers = 40, 200, 3
	table := NewTable()
	last := func(i int) Row { return row(fmt.Sprintf("r%02d", i), "True") }
	var writing, reading sync.WaitGroup
	for range followers {
		reading.Go(func() {
			f := table.Follow()
			defer f.Leave()
			seen := map[Key]Row{}
			for full := false; !full; {
				change, err := f.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range change.Rows {
					seen[r.Key] = r
				}
				for _, key := range change.Gone {
					delete(seen, key)
				}
				full = true
				for i := range rows {
					full = full && seen[last(i).Key] == last(i)
				}
			}
		})
	}
	for i := range rows {
		writing.Go(func() {
			for round := range rounds {
				r := last(i)
				r.Ready = fmt.Sprint(round)
				table.Put(r)
				if round%7 == 0 {
					table.Drop(r.Key)
				}
			}
			table.Put(last(i))
		})
	}
	writing.Wait()
	reading.Wait()
	if n := len(table.followers); n != 0 {
		t.Errorf("%d followers are left", n)
	}
}
