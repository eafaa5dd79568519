package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/bench/internal/load"
)

// bystanderPause is between two requests of the bystander: few, so that they change
// nothing of what is measured.
const bystanderPause = 200 * time.Millisecond

// bystander is another client of the API server, which patches a ConfigMap of its
// own, one request at a time, until it is asked how long each took.
func (b *bench) bystander(ctx context.Context) (took func() ([]time.Duration, error), err error) {
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	key := load.Key{Namespace: "bystander", Name: "bystander"}
	if err := b.client.CreateNamespaces(ctx, key.Namespace); err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, key.Name)
	if err := b.client.Apply(ctx, maps, key, body); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	var all []time.Duration
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)
			if err := b.client.MergePatch(ctx, key, load.Patch{Of: maps, Manager: "bystander", Body: patch}); err != nil {
				if ctx.Err() == nil {
					done <- err
				}
				break
			}
			all = append(all, time.Since(began))
			time.Sleep(bystanderPause)
		}
		close(done)
	}()
	return func() ([]time.Duration, error) {
		stop()
		err := <-done
		return all, err
	}, nil
}
