package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/bench/internal/load"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

// probePhase waits until the operator works and measures the latency without load. It creates a few
// custom resources one by one, and removes them again.
func (b *bench) probePhase(ctx context.Context) error {
	keys := load.Keys("probe", probes+1)
	if err := b.client.CreateNamespaces(ctx, append(load.Namespaces(keys), load.Namespaces(b.keys)...)...); err != nil {
		return err
	}
	first, err := b.template.Object(keys[0])
	if err != nil {
		return err
	}
	starting, cancel := b.whileOperatorRuns(ctx, settleLimit)
	defer cancel()
	mapping, err := b.client.Resource(starting, first.GroupVersionKind())
	if err != nil {
		return err
	}
	b.gvr = mapping.Resource
	bodies, err := load.RenderAll(b.template, keys)
	if err != nil {
		return err
	}
	created := func(load.Key) load.Goal { return load.Created(load.ImageV1) }
	one := func(i int) (start, at time.Time, err error) {
		start = time.Now()
		if err := b.client.Create(ctx, b.gvr, keys[i].Namespace, bodies[i]); err != nil {
			return start, at, err
		}
		waiting, cancel := b.whileOperatorRuns(ctx, settleLimit)
		defer cancel()
		at = b.observer.Wait(waiting, keys[i:i+1], created, settleLimit)[0]
		if at.IsZero() {
			err = fmt.Errorf("no children of custom resource %d after %v, see %s", i, time.Since(start), b.operatorLog())
		}
		return start, at, err
	}
	if _, _, err := one(0); err != nil { // the operator may still be starting
		return err
	}
	if _, quiet := b.waitQuiet(ctx, b.requests.LastWrite); !quiet {
		b.table.Remark("operator not quiet after the first custom resource")
	}
	p := &report.Phase{Name: "single", Goal: "one custom resource at a time: both children exist"}
	err = b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		starts, ats := make([]time.Time, probes), make([]time.Time, probes)
		for i := range probes {
			var err error
			if starts[i], ats[i], err = one(i + 1); err != nil {
				return err
			}
			time.Sleep(200 * time.Millisecond)
		}
		p.Outcome(start, ats)
		p.Latencies(starts, ats)
		return nil
	})
	if err != nil {
		return err
	}
	return b.removeProbes(ctx, keys)
}

func (b *bench) removeProbes(ctx context.Context, keys []load.Key) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	custom, err := load.ObserveCustom(watching, b.cluster.Config(), b.gvr)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := b.client.Delete(ctx, b.gvr, k); err != nil {
			return err
		}
	}
	custom.WaitGone(ctx, settleLimit)
	return b.removeChildren(ctx, keys)
}

// removeChildren deletes children whose custom resources are gone: without garbage
// collection they stay.
func (b *bench) removeChildren(ctx context.Context, keys []load.Key) error {
	err := load.Each(ctx, len(keys), func(ctx context.Context, i int) error {
		if err := b.client.Delete(ctx, load.Deployments, keys[i]); err != nil {
			return err
		}
		return b.client.Delete(ctx, load.Services, keys[i])
	})
	b.waitQuiet(ctx, b.requests.LastWrite)
	return err
}
