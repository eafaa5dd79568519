package controller

import (
	"context"
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// giveUpLimit bounds how long claims may take to be given up at the end.
const giveUpLimit = 10 * time.Second

// giveUp takes the claims of an operator that ran on somebody's machine off the
// CRDs, since it may not come back: whoever has a folder for a kind may serve it
// then. It must be told to end, still hold the Lease, and be the only one that
// claims the kind. No other replica of its installation may live.
func (m *membership) giveUp() {
	if !m.options.Local || m.options.ReadOnly || !m.isLeading() || !m.ends.Load() {
		return
	}
	if m.dividesResources() && !m.member.Status().IsAlone {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), giveUpLimit)
	defer end()
	mine := shard.Shard{Identity: m.options.Identity}
	for _, name := range m.claimedKinds(mine) {
		crd := m.latestCRD(name)
		if crd == nil {
			continue
		}
		if err := m.writeRecord(ctx, crd, mine, kinds.Writes{Unclaim: true}); err != nil {
			m.mgr.GetLogger().Info("claim not given up; jacquard status says how another operator takes it over", "kind", name, "error",
				err.Error())
		}
	}
}

// claimedKinds are the kinds that an installation has a claim to.
func (m *membership) claimedKinds(mine shard.Shard) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kindsWhere(func(k *kindState) bool { return k.crd != nil && mine.Holds(shard.Claims(k.crd)) })
}
