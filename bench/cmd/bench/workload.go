package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/bench/internal/load"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

// createPhase creates all custom resources, beside a bystander that sends requests.
func (b *bench) createPhase(ctx context.Context) error {
	bodies, err := load.RenderAll(b.template, b.keys)
	if err != nil {
		return err
	}
	others, err := b.newBystander(ctx)
	if err != nil {
		return err
	}
	p := &report.Phase{Name: "create", Goal: "all Deployments with the image and all Services exist"}
	return b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		took := others.start(ctx)
		starts := make([]time.Time, len(b.keys))
		err := load.Each(ctx, len(b.keys), func(ctx context.Context, i int) error {
			starts[i] = time.Now()
			return b.client.Create(ctx, b.gvr, b.keys[i].Namespace, bodies[i])
		})
		if err != nil {
			return err
		}
		p.Note("loadSeconds", secondsSince(start))
		at := b.observer.Wait(ctx, b.keys, func(load.Key) load.Goal { return load.Created(load.ImageV1) }, b.timeout)
		beside, err := took()
		if err != nil {
			return err
		}
		p.Bystander(beside)
		p.Outcome(start, at)
		p.Latencies(starts, at)
		p.RatioRaw = p.Seconds / b.result.Raw.ApplySeconds
		p.Note("ratioToRawPost", roundHundredths(p.Seconds/b.result.Raw.CreateSeconds))
		return nil
	})
}

func (b *bench) idlePhase(ctx context.Context) error {
	p := &report.Phase{Name: "idle", Goal: "nothing to do"}
	return b.measurePhase(ctx, p, nil, func(start time.Time) error {
		select {
		case <-ctx.Done():
		case <-time.After(b.idle):
		}
		p.Seconds = b.idle.Seconds()
		return nil
	})
}

// updatePhase gives all custom resources the new image.
func (b *bench) updatePhase(ctx context.Context) error {
	p := &report.Phase{Name: "update", Goal: "all Deployments have the new image"}
	patch := fmt.Appendf(nil, b.updatePatch, load.ImageV2)
	return b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		starts := make([]time.Time, len(b.keys))
		err := load.Each(ctx, len(b.keys), func(ctx context.Context, i int) error {
			starts[i] = time.Now()
			return b.client.MergePatch(ctx, b.keys[i], load.Patch{Of: b.gvr, Manager: load.FieldManager, Body: patch})
		})
		if err != nil {
			return err
		}
		p.Note("loadSeconds", secondsSince(start))
		at := b.observer.Wait(ctx, b.keys, func(load.Key) load.Goal { return load.Created(load.ImageV2) }, b.timeout)
		p.Outcome(start, at)
		p.Latencies(starts, at)
		p.RatioRaw = p.Seconds / b.result.Raw.UpdateSeconds
		return nil
	})
}

// driftPhase deletes some Deployments and scales others behind the operator's back. Each time it
// takes others. An operator may take a Deployment that changes again and again, each time after its
// own write, for a fight, and slow down.
func (b *bench) driftPhase(ctx context.Context) error {
	count := min(drifted, len(b.keys)/3)
	part := b.drifts % (len(b.keys) / (2 * count))
	keys := b.keys[part*2*count : (part+1)*2*count]
	b.drifts++
	p := &report.Phase{Name: "drift", Goal: "deleted Deployments are back, changed replicas are restored"}
	return b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		starts := make([]time.Time, len(keys))
		goals := map[load.Key]load.Goal{}
		for i, k := range keys {
			goals[k] = load.Rescaled(load.Replicas, start)
			if d := b.observer.Get(k).Deployment; i < count && d != nil {
				goals[k] = load.Recreated(d.UID, load.ImageV2)
			}
		}
		err := load.Each(ctx, len(keys), func(ctx context.Context, i int) error {
			starts[i] = time.Now()
			if i < count {
				return b.client.Delete(ctx, load.Deployments, keys[i])
			}
			return b.client.MergePatch(ctx, keys[i], load.Patch{
				Of: load.Deployments, Manager: "drifter", Body: fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, load.Replicas+5),
			})
		})
		if err != nil {
			return err
		}
		at := b.observer.Wait(ctx, keys, func(k load.Key) load.Goal { return goals[k] }, driftTimeout)
		p.Outcome(start, at)
		p.Latencies(starts, at)
		p.Note("recreated", fmt.Sprintf("%d/%d", nonZero(at[:count]), count))
		p.Note("rescaled", fmt.Sprintf("%d/%d", nonZero(at[count:]), count))
		return nil
	})
}

// restartPhase kills the operator, deletes one Deployment while it is down, and starts it again
// with all other objects in place. The phase's time is that of the repair. Its requests are those
// until the operator makes none any more.
func (b *bench) restartPhase(ctx context.Context) error {
	p := &report.Phase{Name: "restart", Goal: "a Deployment deleted while the operator was down is back"}
	victim := b.keys[len(b.keys)/2]
	b.stopOperator()
	if err := b.client.Delete(ctx, load.Deployments, victim); err != nil {
		return err
	}
	time.Sleep(time.Second) // for the watch to bring the deletion
	if err := b.startOperator(); err != nil {
		return err
	}
	return b.measurePhase(ctx, p, b.requests.LastActivity, func(start time.Time) error {
		goal := load.Recreated("", load.ImageV2)
		at := b.observer.Wait(ctx, []load.Key{victim}, func(load.Key) load.Goal { return goal }, driftTimeout)
		p.Outcome(start, at)
		p.Note("repaired", p.Reached)
		p.Want, p.Reached = len(b.keys), len(b.keys) // requests are counted per custom resource
		return nil
	})
}

// noisePhase changes a part of the Deployments' status that means nothing to their owner.
func (b *bench) noisePhase(ctx context.Context) error {
	keys := b.keys[len(b.keys)-min(drifted, len(b.keys)/3):]
	p := &report.Phase{Name: "noise", Goal: "status patches of the Deployments that change nothing of interest"}
	return b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		for round := range noiseRounds {
			next := start.Add(time.Duration(round+1) * time.Second)
			body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Progressing","status":"True","reason":"Noise","message":"round %d"}]}}`,
				round)
			err := load.Each(ctx, len(keys), func(ctx context.Context, i int) error {
				return b.client.MergePatch(ctx, keys[i], load.Patch{Of: load.Deployments, Subresource: "status", Manager: "noise", Body: body})
			})
			if err != nil {
				return err
			}
			time.Sleep(time.Until(next))
		}
		p.Want, p.Reached = len(keys)*noiseRounds, len(keys)*noiseRounds
		p.Seconds = secondsSince(start)
		return nil
	})
}

// removePhase deletes all custom resources and waits until they are gone.
func (b *bench) removePhase(ctx context.Context) error {
	p := &report.Phase{Name: "delete", Goal: "all custom resources are gone"}
	custom, err := load.ObserveCustom(ctx, b.cluster.Config(), b.gvr)
	if err != nil {
		return err
	}
	return b.measurePhase(ctx, p, b.requests.LastWrite, func(start time.Time) error {
		err := load.Each(ctx, len(b.keys), func(ctx context.Context, i int) error {
			return b.client.Delete(ctx, b.gvr, b.keys[i])
		})
		if err != nil {
			return err
		}
		p.Note("loadSeconds", secondsSince(start))
		left, last := custom.WaitGone(ctx, b.timeout)
		p.Want, p.Reached, p.TimedOut = len(b.keys), len(b.keys)-left, left > 0
		p.Seconds = last.Sub(start).Seconds()
		if left > 0 {
			p.Seconds = secondsSince(start)
		}
		deployments, services := b.observer.Remaining(b.keys)
		p.Note("childrenLeft", deployments+services)
		return nil
	})
}

func nonZero(times []time.Time) (n int) {
	for _, t := range times {
		if !t.IsZero() {
			n++
		}
	}
	return n
}
