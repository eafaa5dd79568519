package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// A pupil renders whenever it is woken, and only then.
type pupil struct {
	woken locks.Signal
	mu    sync.Mutex
	asked []Query
	saw   string
}

// study is one turn: it asks, mostly what it asked before, and records.
func (p *pupil) study(r *Reads, as api.Owner, queries []Query) {
	since := r.Tick()
	saw := []string{}
	for n, q := range queries {
		queries[n].Since = since
		found, err := r.answerQuery(q)
		if err != nil {
			saw = append(saw, err.Error())
		}
		saw = append(saw, versions(found))
	}
	r.Record(as, queries)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.saw = queries, strings.Join(saw, ";")
}

func versions(found []live.Object) string {
	all := []string{}
	for _, l := range found {
		all = append(all, l.Meta.GetName()+"@"+l.Meta.GetResourceVersion()+fmt.Sprint(l.Body["data"] != nil))
	}
	return strings.Join(all, " ")
}

// TestReadersSeeTheEnd: whatever happens while they ask, record and change their minds, while
// bodies go and are fetched again: in the end every reader has seen the last state.
func TestReadersSeeTheEnd(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	pupils := map[string]*pupil{}
	for n := range 8 {
		pupils[fmt.Sprint("reader-", n)] = &pupil{woken: locks.NewSignal()}
	}
	reads, _ := read(t, admin)
	reads.patience = 0 // what is asked may be forgotten before it is recorded
	reads.options.Changed = func(of api.Owner) { pupils[of.Name].woken.Notify() }
	scope := Scope{GroupVersionKind: configMaps, Namespace: here}
	some := func() Query {
		if n := rand.N(9); n < 6 {
			return lookup(scope, here, fmt.Sprint("o-", n))
		}
		return selecting(t, scope, here, fmt.Sprint("color=", rand.N(3)))
	}
	var running sync.WaitGroup
	done := make(chan struct{})
	for name, p := range pupils {
		running.Go(func() {
			queries := []Query{some(), some()}
			for {
				select {
				case <-done:
					return
				case <-p.woken:
				}
				if rand.N(4) == 0 {
					queries = []Query{some(), some(), some()}
				}
				p.study(reads, reader(name), slices.Clone(queries))
			}
		})
		p.woken.Notify()
	}
	for n := range 400 {
		o := object(here, fmt.Sprint("o-", rand.N(6)), map[string]string{"color": fmt.Sprint(rand.N(3))})
		switch rand.N(3) {
		case 0:
			_ = in.of(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{})
		case 1:
			_, _ = in.of(o).Create(t.Context(), o, metaCreate)
		default:
			if _, err := in.of(o).Update(t.Context(), o, metav1.UpdateOptions{}); err == nil && n%3 == 0 {
				reads.Trim()
			}
		}
		if n%100 == 50 {
			if err := reads.Resync(t.Context(), scope); err != nil {
				t.Error(err)
			}
		}
	}
	for name, p := range pupils {
		eventually(t, name+" saw the end", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.saw == in.truth(p.asked)
		})
	}
	close(done)
	running.Wait()
}

// truth is what the server itself answers.
func (c cluster) truth(queries []Query) string {
	c.Helper()
	all := []string{}
	for _, q := range queries {
		list, err := c.Resource(resources["ConfigMap"]).Namespace(q.Namespace).List(c.Context(), metaList)
		if err != nil {
			c.Fatal(err)
		}
		found := []live.Object{}
		for n := range list.Items {
			if l := (live.Object{Meta: &list.Items[n], Body: list.Items[n].Object}); q.matchesObject(l) {
				found = append(found, l)
			}
		}
		slices.SortFunc(found, byKey)
		all = append(all, versions(found))
	}
	return strings.Join(all, ";")
}
