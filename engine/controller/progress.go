package controller

import (
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A progressClock knows since when a rollout has made no progress.
type progressClock struct {
	digest string
	// wave, done and ready are the most that there were.
	wave, done, ready int
	since             time.Time
}

// recordProgress takes up how far a rollout is, and returns since when it has come no further.
func (p *progressClock) recordProgress(r rollout.Record, now time.Time) time.Time {
	if p.digest != r.Digest || p.since.IsZero() {
		*p = progressClock{digest: r.Digest, since: now}
	}
	if r.Wave > p.wave || r.Done > p.done || r.Ready > p.ready {
		p.since = now
	}
	p.wave, p.done, p.ready = max(p.wave, r.Wave), max(p.done, r.Done), max(p.ready, r.Ready)
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
func (c *versionTracker) stuckSince(state verdict.State, now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state != verdict.RollingOut || c.next == nil {
		c.progress = progressClock{}
		return time.Time{}
	}
	record, _ := c.announced() // zero while the resources are previewed
	record.Digest = c.next.Digest
	since := c.progress.recordProgress(record, now)
	if now.Sub(since) <= longestRest(c.next.Kind.Settings.Rollout) {
		return time.Time{}
	}
	return since
}
