package operator

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/rollout"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

func versionOf(digest string) *reconcile.Version {
	crd := &schema.CRD{}
	return &reconcile.Version{Digest: digest, Kind: &kind.Kind{CRD: crd}}
}

func thing(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetNamespace("ns")
	o.SetName(name)
	return o
}

// try begins the rollout of what is coming, over the resources a, b and others.
func try(c *course, others ...string) {
	var trials []rollout.Trial
	for _, name := range append(others, "a", "b") {
		trials = append(trials, rollout.Trial{Name: reconcile.Key(thing(name))})
	}
	c.rollout = rollout.Begin(trials,
		rollout.Settings{Digest: c.next.Digest, Waves: []string{"1"}, Deadline: time.Minute}, rollout.Record{}, time.Time{})
	c.rollout.Step(time.Time{})
}

// is checks which version serves a resource; "" is none: it is held.
func (c *course) is(t *testing.T, name, digest string) {
	t.Helper()
	got := c.choose(thing(name))
	if got.Hold != (digest == "") || digest != "" && got.Version.Digest != digest {
		t.Errorf("%s is served by %s (held: %v), want %q", name, got.Version.Digest, got.Hold, digest)
	}
}

// TestCourse: versions that come one after the other, while the process runs.
func TestCourse(t *testing.T) {
	c := newCourse(func() bool { return false })
	c.take(versionOf("0"), past{settled: true})
	c.is(t, "a", "0")
	c.take(versionOf("1"), past{})
	c.is(t, "a", "0")
	try(c)
	c.is(t, "a", "1") // the first wave
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	c.take(versionOf("2"), past{}) // begins anew; what was reached stays
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	try(c, "new")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	if !c.take(versionOf("0"), past{settled: true}) || c.next != nil || c.done != "0" {
		t.Error("going back to what runs does not end the rollout")
	}
	c.is(t, "a", "0")
	c.is(t, "b", "0")

	c.take(&reconcile.Version{Removed: true}, past{})
	if !c.choose(thing("a")).Version.Removed {
		t.Error("the folder is gone, and still serves")
	}
	c.take(versionOf("0"), past{settled: true})
	c.is(t, "a", "0")
}

// TestCourseAtStart: a process that begins with another folder than the one
// that made the children.
func TestCourseAtStart(t *testing.T) {
	c := newCourse(func() bool { return false })
	c.take(versionOf("1"), past{})
	c.is(t, "a", "")
	try(c)
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.take(versionOf("2"), past{})
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.take(versionOf("0"), past{settled: true, unfinished: true})
	c.is(t, "a", "0")
	c.is(t, "b", "0")
	if c.done != "0" {
		t.Error("the CRD still tells of the rollout")
	}
}
