package liveview

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// abreast is how many kinds are listed at the same time.
const abreast = 8

// Together calls do with each number below n, several at the same time, so that kinds which
// the API server does not answer about cost the time of one.
func Together(n int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, abreast)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// EachOf is Each for several kinds, which it lists at the same time. It visits one object at
// a time, in no order, and returns for each kind why it could not be listed, or nil.
func (s *Survey) EachOf(ctx context.Context, kinds []live.Resource, selector string, visit func(live.Resource, metav1.Object)) []error {
	errs := make([]error, len(kinds))
	var mu sync.Mutex
	Together(len(kinds), func(i int) {
		errs[i] = s.Each(ctx, kinds[i], selector, func(o metav1.Object) {
			mu.Lock()
			defer mu.Unlock()
			visit(kinds[i], o)
		})
	})
	return errs
}
