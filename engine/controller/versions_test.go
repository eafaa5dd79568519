package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

func versionOf(digest string) *observe.Version {
	crd := &schema.CRD{}
	return &observe.Version{Digest: digest, Kind: &kind.Kind{CRD: crd}}
}

func thing(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetNamespace("ns")
	o.SetName(name)
	o.SetUID(types.UID(name))
	return o
}

// try begins the rollout of what is coming, over the resources a, b and others.
func try(c *versionTracker, others ...string) {
	var trials []rollout.Preview
	for _, name := range append(others, "a", "b") {
		trials = append(trials, rollout.Preview{Name: reconcile.Key(thing(name)), UID: thing(name).GetUID(), Ready: true})
	}
	how := kind.Rollout{Waves: kind.Sizes("1"), ProgressDeadline: metav1.Duration{Duration: time.Minute}}
	c.rollout = rollout.Begin(trials, rollout.Settings{Digest: c.next.Digest, Rollout: how, Back: c.back}, rollout.Record{}, time.Time{})
	c.rollout.Step(time.Time{})
}

// is checks which version serves a resource; "" is none: it is held.
func (c *versionTracker) is(t *testing.T, name, digest string) {
	t.Helper()
	got := c.choose(thing(name))
	if got.Frozen != (digest == "") || digest != "" && got.Version.Digest != digest {
		t.Errorf("%s is served by %s (held: %v), want %q", name, got.Version.Digest, got.Frozen, digest)
	}
}

// TestCourse: versions that come one after the other, while the process runs.
func TestCourse(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{settled: true})
	c.is(t, "a", "0")
	c.setVersion(versionOf("1"), past{})
	c.is(t, "a", "0")
	try(c)
	c.is(t, "a", "1") // the first wave
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	c.setVersion(versionOf("2"), past{}) // begins anew; what was reached stays
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	try(c, "new")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	c.setVersion(versionOf("0"), past{settled: true}) // what was reached waits until it is tried
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	try(c, "new")
	c.is(t, "a", "0")
	c.is(t, "b", "0")
	c.is(t, "new", "0")
	c.use(c.next)

	c.setVersion(&observe.Version{Removed: true}, past{})
	if !c.choose(thing("a")).Version.Removed {
		t.Error("the folder is gone, and still serves")
	}
	c.setVersion(versionOf("0"), past{settled: true})
	c.is(t, "a", "0")
}

// TestCourseAtStart: a process that begins with another folder than the one
// that made the children.
func TestCourseAtStart(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("1"), past{})
	c.is(t, "a", "")
	try(c)
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.setVersion(versionOf("2"), past{})
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.setVersion(versionOf("0"), past{settled: true, unfinished: true})
	c.is(t, "b", "")
	try(c)
	c.is(t, "a", "0")
	c.is(t, "b", "0")
}

// TestRevertEndsAmongEdits: a rollout is taken back, and resources that it had not reached
// are edited and made meanwhile, before and after the preview. The version that serves
// these has the digest of the one that is put back.
func TestRevertEndsAmongEdits(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{settled: true})
	c.setVersion(versionOf("1"), past{})
	try(c)
	serve := func(o *unstructured.Unstructured) {
		c.served(o, reconcile.Outcome{Version: c.choose(o).Version, Ready: true})
	}
	serve(thing("a"))
	c.setVersion(versionOf("0"), past{settled: true})
	c.rollout = rollout.Begin([]rollout.Preview{{Name: reconcile.Key(thing("a")), UID: "a", Ready: true},
		{Name: reconcile.Key(thing("b")), UID: "b", Ready: true, Same: true}},
		rollout.Settings{Digest: "0", Rollout: kind.Rollout{}, Back: c.back}, rollout.Record{}, time.Time{})
	b := thing("b")
	for n := range int64(5) {
		b.SetGeneration(n + 1)
		c.rollout.Look(resource(b))
		c.rollout.Step(time.Time{})
		serve(b)
		serve(thing("a"))
	}
	if c.rollout.Step(time.Time{}); c.rollout.State() != rollout.Complete {
		t.Errorf("%s; to be previewed: %v", c.rollout.Record(), c.rollout.NotPreviewed())
	}
}

// TestRollbackUnusable: while a rollback's revision cannot be used, the rollout that it should
// take back moves nothing, be it previewed by then or not. It goes on once the folder is to
// serve after all, and ends when another version is.
func TestRollbackUnusable(t *testing.T) {
	lost := errors.New("revision 0 is not kept")
	for _, isPreviewed := range []bool{true, false} {
		c := newVersionTracker(func() bool { return false })
		begin := func(digest string) {
			v := versionOf(digest)
			v.Kind.Settings.Rollout = kind.Rollout{Waves: kind.Sizes("1"), ProgressDeadline: metav1.Duration{Duration: time.Hour}}
			c.setVersion(v, past{settled: digest == "0"})
		}
		preview := func() {
			previews := []rollout.Preview{{Name: reconcile.Key(thing("a")), UID: "a"}, {Name: reconcile.Key(thing("b")), UID: "b"}}
			if !(&kindController{versions: c}).rollOut(c.next, previews, rollout.Record{}) {
				t.Fatal("the rollout does not begin")
			}
			c.rollout.Step(time.Now())
		}
		begin("0")
		if begin("1"); isPreviewed {
			preview()
		}
		if c.haltRollout("1", lost); !isPreviewed {
			preview()
		}
		c.is(t, "a", "0")
		k := &heartbeat.Kind{Name: "things"}
		c.written = c.rollout.Record()
		if c.describe(k, false); k.State != verdict.Stopped || !strings.HasPrefix(k.Message, lost.Error()) {
			t.Errorf("it is %s: %s", k.State, k.Message)
		}
		c.haltRollout("1", nil)
		c.rollout.Halt(c.halted, time.Now())
		c.rollout.Step(time.Now())
		c.is(t, "a", "1")
		c.haltRollout("1", lost)
		begin("0")
		preview()
		c.haltRollout("1", lost) // it is lost again, and in memory
		c.rollout.Step(time.Now())
		c.is(t, "a", "0")
		if now := c.rollout.Record(); now.State == rollout.Stopped {
			t.Errorf("the rollback is %s", now)
		}
	}
}

// TestMadeWhileRevertStopped: what is made while a revert waits for an approval can be
// previewed once the version that it is put back to has served it.
func TestMadeWhileRevertStopped(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{settled: true})
	c.setVersion(versionOf("1"), past{})
	try(c)
	c.setVersion(versionOf("0"), past{settled: true})
	lost := rollout.Child{GroupKind: apischema.GroupKind{Kind: "Namespace"}, Name: "x"}
	c.rollout = rollout.Begin([]rollout.Preview{{Name: reconcile.Key(thing("a")), UID: "a", Ready: true, Lost: []rollout.Child{lost}}},
		rollout.Settings{Digest: "0", Back: c.back}, rollout.Record{}, time.Time{})
	made := thing("made")
	c.served(made, reconcile.Outcome{Version: c.choose(made).Version, Ready: true})
	if due := c.rollout.ToPreview(); len(due) != 1 || due[0].Name != "made" {
		t.Errorf("to be previewed: %v, in %s", due, c.rollout.Record())
	}
}

// TestForced: what a rollout was forced past is told of after it is complete, and
// after a restart, until it is ready or gone.
func TestForced(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{settled: true})
	c.setVersion(versionOf("1"), past{})
	try(c)
	late := time.Time{}
	for _, name := range []string{"a", "b"} {
		c.choose(thing(name))
		c.served(thing(name), reconcile.Outcome{Version: c.next})
		late = late.Add(time.Hour)
		c.rollout.Step(late)
		c.rollout.Approve(rollout.Approval{Stop: c.rollout.Record().Stop()}, late)
		c.rollout.Step(late)
	}
	now, _ := c.announced()
	if now.State != rollout.Complete || now.NotReady != 2 {
		t.Fatalf("%s", now)
	}
	c.recorded(now)
	again := newVersionTracker(c.kindPaused)
	again.setVersion(versionOf("1"), past{settled: true, record: rollout.Read(now.String())})
	for _, c := range []*versionTracker{c, again} {
		k := &heartbeat.Kind{}
		if c.describe(k, false); k.State != verdict.Serving || !strings.Contains(k.Message, "forced, 2 not ready, as ns/a") {
			t.Errorf("it is %s: %s", k.State, k.Message)
		}
		c.served(thing("a"), reconcile.Outcome{Version: c.running, Ready: true})
		if now, changed := c.announced(); !changed || now.NotReady != 1 || now.Forced[0] != "ns/b" {
			t.Errorf("a is ready: %s", now)
		}
	}
}

// TestCompleteIsServing: of a rollout that is complete nothing more is told, also before it
// is put away.
func TestCompleteIsServing(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{settled: true})
	c.setVersion(versionOf("1"), past{})
	try(c)
	for _, name := range []string{"a", "b"} {
		c.choose(thing(name))
		c.served(thing(name), reconcile.Outcome{Version: c.next, Ready: true})
		c.rollout.Step(time.Time{})
	}
	if state := c.rollout.Record().State; state != rollout.Complete {
		t.Fatalf("the rollout is %s", state)
	}
	k := &heartbeat.Kind{}
	if c.describe(k, false); k.State != verdict.Serving || k.Message != "" {
		t.Errorf("it is %s: %s", k.State, k.Message)
	}
}

// TestResumed: a process that begins in the middle of a rollout, with the revisions of
// what served before.
func TestResumed(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("2"), past{base: versionOf("0"), digest: "0",
		kept: []keptVersion{
			{"1", versionOf("1"), rollout.SetOf([]types.UID{"a"})},
			{"lost", nil, rollout.SetOf([]types.UID{"c"})},
		}, lost: "revision lost is not kept"})
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "c", "")
	if why := c.choose(thing("c")).Why; why != "revision lost is not kept" {
		t.Errorf("c is held since %q", why)
	}
	try(c, "c", "d") // the first wave reaches a
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.setVersion(versionOf("3"), past{})
	try(c, "0", "c", "d")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	record := c.holders(c.rollout.Record())
	for uid, want := range map[types.UID]string{"0": "3", "a": "2", "b": "", "c": "lost", "d": ""} {
		if got := record.ServedBy(uid); got != want {
			t.Errorf("by the record %s is served by %q, want %q: %s", uid, got, want, record)
		}
	}
	again := rollout.Read(record.String())
	if got := again.ServedBy("a"); got != "2" {
		t.Errorf("as read again a is served by %q", got)
	}
}

// TestReportOfResumedRollout: before a process that begins in the middle of a rollout has
// previewed its version, it reports what is on record; of another version, that it is tried.
func TestReportOfResumedRollout(t *testing.T) {
	record := rollout.Record{Digest: "2", State: rollout.Stopped, Reason: rollout.Deletes, Deletes: []string{"ConfigMap ns/a"}, Deleted: 1}
	for digest, want := range map[string]struct {
		state   verdict.State
		message string
	}{"2": {verdict.Stopped, record.Text("things")}, "3": {verdict.RollingOut, "the changed folder is being tried"}} {
		crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "x", "jacquard.dev/rolled-out": "0",
			"jacquard.dev/rollout": record.String()}}
		c := newVersionTracker(func() bool { return false })
		c.setVersion(versionOf(digest), pastOf(crd, versionOf(digest), shard.Shard{}))
		k := &heartbeat.Kind{Name: "things"}
		if c.describe(k, false); k.State != want.state || k.Message != want.message {
			t.Errorf("with folder %s it is %s: %s, want %s: %s", digest, k.State, k.Message, want.state, want.message)
		}
	}
}

// TestPast: a rollout that puts the version before back is not complete because that
// version had been.
func TestPast(t *testing.T) {
	record := rollout.Record{Digest: "0", State: rollout.Stopped, Reason: rollout.Deletes}
	crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "x", "jacquard.dev/rolled-out": "0",
		"jacquard.dev/rollout": record.String()}}
	if p := pastOf(crd, versionOf("0"), shard.Shard{}); !p.settled || !p.unfinished {
		t.Errorf("%+v", p)
	}
	record.State = rollout.Complete
	crd.Annotations["jacquard.dev/rollout"] = record.String()
	if p := pastOf(crd, versionOf("0"), shard.Shard{}); !p.settled || p.unfinished {
		t.Errorf("%+v", p)
	}
}

// TestResume: of overlapping sets on record the latest counts, and what the version that
// begins had reached before stays with it.
func TestResume(t *testing.T) {
	set := func(uids ...types.UID) string { return rollout.SetOf(uids).String() }
	record := rollout.Record{Digest: "2", State: rollout.Stopped, Reached: set("a"), Kept: map[string]string{"1": set("a", "b")}}
	crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "x", "jacquard.dev/rolled-out": "0",
		"jacquard.dev/rollout": record.String()}}
	h := &history{list: func() ([]*revision.Revision, error) { return nil, nil }}
	var many []types.UID
	for i := range 5000 {
		many = append(many, types.UID(fmt.Sprint(i)))
	}
	full := rollout.Record{Digest: "2", State: rollout.Stopped, Reached: set(many...)}
	told := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "x", "jacquard.dev/rolled-out": "3",
		"jacquard.dev/rollout": full.String()}}
	three := versionOf("3")
	if p := h.resume(pastOf(told, three, shard.Shard{}), three, told, shard.Shard{}); p.base != nil || p.lost == "" {
		t.Errorf("not all that was reached is on record, and the base serves what is not: %+v", p)
	}
	for begins, want := range map[string][2]string{"1": {"", "1"}, "2": {"2", ""}} {
		v := versionOf(begins)
		p := h.resume(pastOf(crd, v, shard.Shard{}), v, crd, shard.Shard{})
		c := newVersionTracker(func() bool { return false })
		c.setVersion(v, p)
		for i, uid := range []types.UID{"a", "b"} {
			got := ""
			if before := c.before(uid); before != nil {
				got = before.Digest
			}
			if got != want[i] {
				t.Errorf("version %s begins, and %s is served by %q, want %q", begins, uid, got, want[i])
			}
		}
	}
}
