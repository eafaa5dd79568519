package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestRolloutIsStuckWithoutProgress: a rollout that reaches nothing for longer than its
// deadline is stuck, whether its resources were previewed or not; a resource that is ready
// again, or a pause, lets it count anew.
func TestRolloutIsStuckWithoutProgress(t *testing.T) {
	start := time.Unix(1000, 0)
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.targetVersion().version.Kind.Settings.Rollout = kind.Rollout{ProgressDeadline: metav1.Duration{Duration: time.Minute},
		Waves: []kind.Wave{{Size: "1", MinReadySeconds: ptr.To(30)}}}
	for _, step := range []struct {
		what    string
		after   time.Duration
		state   verdict.State
		isStuck bool
	}{
		{"it begins", 0, verdict.RollingOut, false},
		{"it is previewed for as long as it may", 2 * time.Minute, verdict.RollingOut, false},
		{"it is previewed for longer", 2*time.Minute + time.Second, verdict.RollingOut, true},
		{"it was paused", 3 * time.Minute, verdict.Paused, false},
		{"it goes on", 4 * time.Minute, verdict.RollingOut, false},
		{"it rests again", 7 * time.Minute, verdict.RollingOut, true},
	} {
		if since := c.stuckSince(step.state, start.Add(step.after)); since.IsZero() == step.isStuck {
			t.Errorf("%s: it is stuck since %v, want stuck: %v", step.what, since, step.isStuck)
		}
	}
	c.try()
	if since := c.stuckSince(verdict.RollingOut, start.Add(8*time.Minute)); !since.IsZero() {
		t.Errorf("a wave that has begun is no progress: stuck since %v", since)
	}
}

// TestProgressIsMore: that resources become unready and ready again is no progress.
func TestProgressIsMore(t *testing.T) {
	var p progressClock
	start := time.Unix(1000, 0)
	p.recordProgress(rollout.Record{Wave: 1, Moved: 2, Ready: 2}, start)
	p.recordProgress(rollout.Record{Wave: 1, Moved: 2, Ready: 1}, start.Add(time.Minute))
	if since := p.recordProgress(rollout.Record{Wave: 1, Moved: 2, Ready: 2}, start.Add(2*time.Minute)); !since.Equal(start) {
		t.Errorf("progress at %v", since)
	}
	if since := p.recordProgress(rollout.Record{Wave: 1, Moved: 3, Ready: 2}, start.Add(3*time.Minute)); since.Equal(start) {
		t.Error("another resource is no progress")
	}
}
