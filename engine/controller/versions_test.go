package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	k := &kind.Kind{CRD: &schema.CRD{}}
	k.Settings.Rollout = kind.Rollout{Waves: kind.Sizes("1"), ProgressDeadline: metav1.Duration{Duration: time.Minute}}
	return &observe.Version{Digest: digest, Kind: k}
}

func thing(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetNamespace("ns")
	o.SetName(name)
	o.SetUID(types.UID(name))
	o.SetGeneration(1)
	return o
}

// unserved is the past of a kind whose children some other folder created.
var unserved = past{hasChildren: true}

// try begins the rollout of what is coming, which changes the resources a, b and others.
func try(c *versionTracker, others ...string) {
	var all []rollout.Resource
	for _, name := range append(others, "a", "b") {
		all = append(all, rollout.ResourceOf(thing(name)))
	}
	c.rollout.ObserveAll(all)
	for _, o := range all {
		c.rollout.Previewed(rollout.Preview{UID: o.UID, Generation: 1, WasReady: true, Changes: true})
	}
	c.rollout.Step(time.Now())
	now, _ := c.announced()
	c.acceptRecord(now)
}

// is checks which version serves a resource; "" is none: it is held.
func (c *versionTracker) is(t *testing.T, name, digest string) {
	t.Helper()
	got := c.choose(thing(name))
	if isHeld := got.Frozen || got.Undecided; isHeld != (digest == "") || digest != "" && got.Version.Digest != digest {
		t.Errorf("%s is served by %s (held: %v), want %q", name, got.Version.Digest, got.Frozen, digest)
	}
}

// TestCourse: versions that come one after the other, while the process runs.
func TestCourse(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{})
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

	c.setVersion(versionOf("0"), past{}) // what was reached waits until it is tried
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	try(c, "new")
	c.is(t, "a", "0")
	c.is(t, "b", "0")
	c.is(t, "new", "0")
	c.serveAll(c.targetRevision().Revision, c.targetRevision().version)

	c.setVersion(&observe.Version{Removed: true}, past{})
	if !c.choose(thing("a")).Version.Removed {
		t.Error("the folder is gone, and still serves")
	}
	c.setVersion(versionOf("0"), past{})
	c.is(t, "a", "0")
}

// TestCourseAtStart: a process that begins with another folder than the one
// that made the children.
func TestCourseAtStart(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("1"), unserved)
	c.is(t, "a", "")
	try(c)
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.setVersion(versionOf("2"), unserved)
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.setVersion(versionOf("3"), unserved)
	c.is(t, "b", "")
	try(c)
	c.is(t, "a", "3")
	c.is(t, "b", "")
}

// TestRevertEndsAmongEdits: a rollout is taken back, and resources that it had not reached
// are edited and made meanwhile, before and after the preview. The version that serves
// these has the digest of the one that is put back.
func TestRevertEndsAmongEdits(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{})
	c.setVersion(versionOf("1"), past{})
	try(c)
	serve := func(o *unstructured.Unstructured) {
		c.served(o, reconcile.Outcome{Version: c.choose(o).Version, Ready: true})
	}
	serve(thing("a"))
	c.setVersion(versionOf("0"), past{})
	c.rollout.ObserveAll([]rollout.Resource{rollout.ResourceOf(thing("a")), rollout.ResourceOf(thing("b"))})
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, WasReady: true, Changes: true})
	c.rollout.Previewed(rollout.Preview{UID: "b", Generation: 1, WasReady: true})
	c.rollout.Start(time.Now())
	c.acceptRecord(c.rollout.Record())
	b := thing("b")
	for n := range int64(5) {
		b.SetGeneration(n + 2)
		c.rollout.Observe(rollout.ResourceOf(b))
		c.rollout.Step(time.Now())
		serve(b)
		serve(thing("a"))
	}
	if c.rollout.Step(time.Now()); c.rollout.State() != rollout.Complete {
		t.Errorf("%s; to be previewed: %v", c.rollout.Record(), c.rollout.ToPreview())
	}
}

// TestRollbackUnusable: while a rollback's revision cannot be used, the rollout that it should
// take back moves nothing, be it previewed by then or not. It goes on once the folder is to
// serve after all, and ends when another version is.
func TestRollbackUnusable(t *testing.T) {
	lost := errors.New("revision 0 is not kept")
	for _, isPreviewed := range []bool{true, false} {
		c := newVersionTracker(func() bool { return false })
		begin := func(digest string) { c.setVersion(versionOf(digest), past{}) }
		preview := func() { try(c) }
		begin("0")
		if begin("1"); isPreviewed {
			preview()
		}
		if c.haltRollout("1", lost); !isPreviewed {
			preview()
		}
		c.is(t, "a", "0")
		k := &heartbeat.Kind{Name: "things"}
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
	c.setVersion(versionOf("0"), past{})
	c.setVersion(versionOf("1"), past{})
	try(c)
	c.setVersion(versionOf("0"), past{})
	lost := rollout.Child{GroupKind: apischema.GroupKind{Kind: "Namespace"}, Name: "x"}
	c.rollout.Observe(rollout.ResourceOf(thing("a")))
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, WasReady: true, Changes: true, Deletes: []rollout.Child{lost}})
	c.rollout.Step(time.Now())
	c.acceptRecord(c.rollout.Record())
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
	c.setVersion(versionOf("0"), past{})
	c.setVersion(versionOf("1"), past{})
	try(c)
	late := time.Now()
	for _, name := range []string{"a", "b"} {
		c.choose(thing(name))
		c.served(thing(name), reconcile.Outcome{Version: c.targetRevision().version})
		late = late.Add(time.Hour)
		c.rollout.Step(late)
		c.rollout.Approve(rollout.Approval{Stop: c.rollout.Record().Stop}, late)
		c.rollout.Step(late)
	}
	now, _ := c.announced()
	if now.State != rollout.Complete || now.NotReady != 2 {
		t.Fatalf("%s", now)
	}
	c.acceptRecord(now)
	again := newVersionTracker(c.kindPaused)
	again.setVersion(versionOf("1"), past{hasChildren: true, record: rollout.ParseRecord(now.String())})
	for _, c := range []*versionTracker{c, again} {
		k := &heartbeat.Kind{}
		if c.describe(k, false); k.State != verdict.Serving || !strings.Contains(k.Message, "forced, 2 not ready, as ns/a") {
			t.Errorf("it is %s: %s", k.State, k.Message)
		}
		c.served(thing("a"), reconcile.Outcome{Version: c.targetRevision().version, Ready: true})
		if now, changed := c.announced(); !changed || now.NotReady != 1 || now.Passed[0] != "ns/b" {
			t.Errorf("a is ready: %s", now)
		}
	}
}

// TestCompleteIsServing: of a rollout that is complete nothing more is told, also before it
// is put away.
func TestCompleteIsServing(t *testing.T) {
	c := newVersionTracker(func() bool { return false })
	c.setVersion(versionOf("0"), past{})
	c.setVersion(versionOf("1"), past{})
	try(c)
	for _, name := range []string{"a", "b"} {
		c.choose(thing(name))
		c.served(thing(name), reconcile.Outcome{Version: c.targetRevision().version, Ready: true})
		c.rollout.Step(time.Now())
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
// what served before. Marks on children tell which one serves a resource.
func TestResumed(t *testing.T) {
	ids := []rollout.Revision{{Number: 1, Digest: "0"}, {Number: 2, Digest: "1"}, {Number: 3, Digest: "lost"}}
	c := newVersionTracker(func() bool { return false })
	c.readMarks = func(uid types.UID) []rollout.Revision {
		return map[types.UID][]rollout.Revision{"a": ids[:2], "b": ids[:1], "c": ids}[uid]
	}
	c.setVersion(versionOf("2"), past{hasChildren: true, number: 4, lost: "revision lost is not kept",
		record:   rollout.Record{Revisions: ids, State: rollout.Running},
		versions: map[string]*observe.Version{"0": versionOf("0"), "1": versionOf("1")}})
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "c", "")
	c.readMarks = func(types.UID) []rollout.Revision { return nil } // the children are gone
	c.is(t, "a", "1")
	data := &metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "data"}
	if may := c.choose(thing("a")).MayDelete; may == nil || may(apischema.GroupKind{Kind: "PersistentVolumeClaim"}, data) == nil ||
		may(apischema.GroupKind{Kind: "ConfigMap"}, data) != nil {
		t.Error("what the abandoned rollout of 1 deletes was approved by nobody")
	}
	if c.choose(thing("b")).MayDelete != nil {
		t.Error("what served before every rollout may not delete")
	}
	try(c, "c", "d") // the first wave reaches a
	if why := c.choose(thing("c")).Why; why != "revision lost is not kept" {
		t.Errorf("c is held since %q", why)
	}
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.setVersion(versionOf("3"), past{})
	try(c, "0", "c", "d")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	want := append(slices.Clone(ids), rollout.Revision{Number: 4, Digest: "2"}, rollout.Revision{Number: 5, Digest: "3"})
	if diff := cmp.Diff(want, c.rollout.Record().Revisions); diff != "" {
		t.Error(diff)
	}
	if got := c.choose(thing("a")).Version.Revision; got != "4-2" {
		t.Errorf("what writes a marks its children with %q", got)
	}
}

// TestReportOfResumedRollout: before a process that begins in the middle of a rollout has
// previewed its version, it reports what is on record, and leaves that as it is; of another
// version, that it is tried.
func TestReportOfResumedRollout(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "0"}, {Number: 2, Digest: "2"}}, State: rollout.Stopped,
		Reason: rollout.Deletes, DeletionNames: []string{"ConfigMap ns/a"}, DeletionCount: 1}
	for digest, want := range map[string]struct {
		state   verdict.State
		message string
	}{"2": {verdict.Stopped, record.Text("things")}, "3": {verdict.RollingOut, "the changed folder is being tried"}} {
		crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/child-kinds": "x", "jacquard.dev/rollout": record.String()}}
		c := newVersionTracker(func() bool { return false })
		c.setVersion(versionOf(digest), pastOf(crd, versionOf(digest), shard.Shard{}))
		k := &heartbeat.Kind{Name: "things"}
		if c.describe(k, false); k.State != want.state || k.Message != want.message {
			t.Errorf("with folder %s it is %s: %s, want %s: %s", digest, k.State, k.Message, want.state, want.message)
		}
		if now, changed := c.announced(); changed {
			t.Errorf("with folder %s the record becomes %s", digest, now)
		}
	}
}

// TestIsSettled: a version serves every resource if its rollout is complete, or if there are no
// children yet.
func TestIsSettled(t *testing.T) {
	one, two := rollout.Revision{Number: 1, Digest: "0"}, rollout.Revision{Number: 2, Digest: "1"}
	for name, test := range map[string]struct {
		past past
		want bool
	}{
		"complete":         {past{hasChildren: true, record: rollout.Record{Revisions: []rollout.Revision{one}}}, true},
		"another folder":   {past{hasChildren: true, record: rollout.Record{Revisions: []rollout.Revision{two}}}, false},
		"no children":      {past{record: rollout.Record{Revisions: []rollout.Revision{two}}}, true},
		"no record":        {past{hasChildren: true}, false},
		"being taken back": {past{hasChildren: true, record: rollout.Record{Revisions: []rollout.Revision{one, two, {Number: 3, Digest: "0"}}}}, false},
	} {
		if got := test.past.isSettled(versionOf("0")); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestNextNumber: the number of a revision is greater than any other that may be on a child.
func TestNextNumber(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Number: 5, Digest: "0"}}}
	stored := func(numbers ...int64) (all []*revision.Revision) {
		for _, n := range numbers {
			all = append(all, &revision.Revision{Number: n, Digest: fmt.Sprint("of ", n)})
		}
		return all
	}
	for name, test := range map[string]struct {
		digest string
		stored []*revision.Revision
		want   int64
	}{
		"nothing stored":     {"1", nil, 6},
		"stored just now":    {"of 7", stored(7, 6), 7},
		"stored before":      {"of 6", stored(7, 6), 8},
		"not stored":         {"1", stored(7, 6), 8},
		"below the record's": {"of 4", stored(4), 6},
	} {
		h := &history{list: func() ([]*revision.Revision, error) { return test.stored, nil }}
		if got := h.nextNumber(test.digest, record); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
