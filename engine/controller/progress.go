package controller

import (
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A progressClock knows since when a rollout has made no progress.
type progressClock struct {
	target rollout.Revision
	// wave, moved and ready are the most that there were.
	wave, moved, ready int
	since              time.Time
}

// recordProgress takes up how far a rollout is, and returns since when it has come no further.
func (p *progressClock) recordProgress(r rollout.Record, now time.Time) time.Time {
	if p.target != r.Target() || p.since.IsZero() {
		*p = progressClock{target: r.Target(), since: now}
	}
	if r.Wave > p.wave || r.Moved > p.moved || r.Ready > p.ready {
		p.since = now
	}
	p.wave, p.moved, p.ready = max(p.wave, r.Wave), max(p.moved, r.Moved), max(p.ready, r.Ready)
	return p.since
}

// stuckGrace is how much longer than its deadline a rollout may make no progress, since it
// is looked at now and then only.
const stuckGrace = 30 * time.Second

// longestRest returns how long a rollout may make no progress: a wave has its
// progressDeadline to become ready, and must then be ready for minReadySeconds.
func longestRest(how kind.Rollout) time.Duration {
	seconds := how.MinReadySeconds
	for _, w := range how.Waves {
		if w.MinReadySeconds != nil {
			seconds = max(seconds, *w.MinReadySeconds)
		}
	}
	return how.ProgressDeadline.Duration + time.Duration(seconds)*time.Second + stuckGrace
}

// stuckSince returns since when the rollout of a kind in this state has made no progress, if
// that is for longer than it may; else the zero time.
func (c rolloutRecorder) stuckSince(state verdict.State, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != verdict.RollingOut || c.rollout == nil {
		c.progress = progressClock{}
		return time.Time{}
	}
	since := c.progress.recordProgress(c.rollout.Record(), now)
	if now.Sub(since) <= longestRest(c.targetVersion().version.Kind.Settings.Rollout) {
		return time.Time{}
	}
	return since
}
