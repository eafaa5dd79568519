package controller

import (
	"context"
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// giveUpLimit bounds how long claims may take to be given up at the end.
const giveUpLimit = 10 * time.Second

// giveUp takes the claims of an operator that ran on somebody's machine off the
// CRDs, since it may not come back: whoever has a folder for a kind may serve it
// then. It must be told to end, still hold the Lease, and be the only one that
// claims the kind. No other replica of its installation may live.
func (o *Operator) giveUp() {
	if !o.options.Local || o.options.ReadOnly || !o.isLeading() || !o.ends.Load() {
		return
	}
	if o.dividesResources() && !o.member.Status().IsAlone {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), giveUpLimit)
	defer end()
	mine := shard.Shard{Identity: o.options.Identity}
	for _, name := range o.claimed(mine) {
		crd := o.crd(name)
		if crd == nil {
			continue
		}
		if write := mine.Yield(crd); write != nil {
			if err := o.annotate(ctx, crd, write); err != nil {
				o.mgr.GetLogger().Info("claim not given up; jacquard status says how another operator takes it over", "kind", name, "error",
					err.Error())
			}
		}
	}
}

// claimed are the kinds that an installation has a claim to.
func (o *Operator) claimed(mine shard.Shard) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.those(func(k *kindState) bool { return k.crd != nil && mine.Holds(shard.Claims(k.crd)) })
}
