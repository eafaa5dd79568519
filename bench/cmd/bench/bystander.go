package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/bench/internal/load"
)

// bystanderPause is between two requests of the bystander: few, so that they change
// nothing of what is measured.
const bystanderPause = 200 * time.Millisecond

var (
	maps         = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	bystanderMap = load.Key{Namespace: "bystander", Name: "bystander"}
)

// A bystander is another client of the API server, with a connection of its own. It
// patches a ConfigMap of its own, one request at a time.
type bystander struct{ client *load.Client }

// newBystander makes the bystander and the ConfigMap that it patches.
func (b *bench) newBystander(ctx context.Context) (*bystander, error) {
	cfg := rest.CopyConfig(b.cluster.Config())
	cfg.Dial = (&net.Dialer{}).DialContext // with one of its own it shares no connection
	client, err := load.NewClient(cfg)
	if err != nil {
		return nil, err
	}
	if err := client.CreateNamespaces(ctx, bystanderMap.Namespace); err != nil {
		return nil, err
	}
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, bystanderMap.Name)
	return &bystander{client}, client.Apply(ctx, maps, bystanderMap, body)
}

// start lets it send requests until it is asked how long each took.
func (b *bystander) start(ctx context.Context) (took func() ([]time.Duration, error)) {
	stopped, done := make(chan struct{}), make(chan error, 1)
	var all []time.Duration
	go func() {
		for n := 0; ; n++ {
			began := time.Now()
			patch := load.Patch{Of: maps, Manager: "bystander", Body: fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n)}
			if err := b.client.MergePatch(ctx, bystanderMap, patch); err != nil {
				done <- err
				return
			}
			all = append(all, time.Since(began))
			select {
			case <-stopped:
				done <- nil
				return
			case <-time.After(bystanderPause):
			}
		}
	}()
	return func() ([]time.Duration, error) {
		close(stopped)
		err := <-done
		return all, err
	}
}
