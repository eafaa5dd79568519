package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
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
	k := &kind.Kind{CRD: &schema.CRD{Object: &apiextensionsv1.CustomResourceDefinition{}}, GVK: apischema.GroupVersionKind{Kind: "Thing"}}
	k.Children = []kind.Child{{GroupVersionKind: apischema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}}
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

// A course is a kind whose folder changes, from pass to pass.
type course struct {
	*kindVersions
	crd *metav1.ObjectMeta
	// folder is the digest of the present folder, "" if there is none. lost are revisions that
	// are not stored.
	folder string
	lost   []string
	// onFailure is that of the present folder's kind.yaml.
	onFailure string
}

// newCourse is a kind without children; unserved is one whose children some other folder made.
func newCourse() *course {
	never := func() bool { return false }
	return &course{kindVersions: newKindVersions(func() {}, never), crd: &metav1.ObjectMeta{Annotations: map[string]string{}}}
}

func unserved() *course {
	c := newCourse()
	c.crd.Annotations[api.AnnotationChildKinds] = "ConfigMap"
	return c
}

// serve makes a pass with a folder.
func (c *course) serve(folder string) {
	c.folder = folder
	for {
		in := kinds.Inputs{CRDsListed: true, FoldersRead: true, CRD: &kinds.CRD{Established: true, Storage: apischema.GroupVersionKind{Kind: "Thing"}},
			Record: kinds.ReadRecord(c.crd, shard.Shard{}), Claim: kinds.Claimed, Exclusive: true, StoresRevisions: true,
			IsDiscovered: func(apischema.GroupVersionKind) bool { return true },
			Version: func(digest string) (*kind.Kind, error) {
				if slices.Contains(c.lost, digest) {
					return nil, fmt.Errorf("revision %s is not kept", digest)
				}
				return versionOf(digest).Kind, nil
			}}
		in.NextNumber = func(digest string) int64 {
			if _, number := c.findVersion(digest); number > in.Record.Rollout.Target().Number {
				return number
			}
			return in.Record.Rollout.Target().Number + 1
		}
		if folder != "" {
			in.Folder = kinds.Folder{Present: true, Digest: folder, Kind: versionOf(folder).Kind}
			in.Folder.Kind.Settings.Rollout.OnFailure = c.onFailure
		}
		d := kinds.Decide(in)
		if d.Writes.IsEmpty() {
			c.take(d, in.Record.Rollout)
			return
		}
		c.write(d.Writes)
	}
}

// take adopts what was decided.
func (c *course) take(d kinds.Desired, record rollout.Record) {
	var versions []servedVersion
	for _, v := range d.Versions {
		s := servedVersion{Revision: v.Revision, err: v.Err}
		if v.Kind != nil {
			s.version = &observe.Version{Digest: v.Revision.Digest, Kind: v.Kind}
		}
		versions = append(versions, s)
	}
	if d.Mode == kinds.DeleteOnly {
		versions = []servedVersion{{version: &observe.Version{Removed: true}}}
	}
	c.adoptVersions(d, record, versions, time.Now())
}

func (c *course) write(w kinds.Writes) {
	for key, value := range w.Annotations(c.crd, shard.Shard{}, time.Now()) {
		if delete(c.crd.Annotations, key); value != nil {
			c.crd.Annotations[key] = value.(string)
		}
	}
}

// put records how far the rollout is, and makes another pass.
func (c *course) put() (now rollout.Record, changed bool) {
	now, changed = c.newRecord()
	if changed {
		c.write(kinds.Writes{Rollout: &now})
		c.serve(c.folder)
	}
	return now, changed
}

// try begins the rollout of what is coming, which changes the resources a, b and others.
func (c *course) try(others ...string) {
	var all []rollout.Resource
	for _, name := range append(others, "a", "b") {
		all = append(all, rollout.ResourceOf(thing(name)))
	}
	c.rollout.ObserveAll(all)
	for _, o := range all {
		c.rollout.Previewed(rollout.Preview{UID: o.UID, Generation: 1, WasReady: true, Changes: true})
	}
	c.rollout.Step(time.Now())
	c.put()
}

// reach serves resources until the rollout is complete.
func (c *course) reach(names ...string) {
	for _, name := range names {
		c.recordServed(thing(name), reconcile.Outcome{Version: c.chooseVersion(thing(name)).Version, Ready: true})
		c.rollout.Step(time.Now())
	}
}

// is checks which version serves a resource; "" is none: it is held.
func (c *course) is(t *testing.T, name, digest string) {
	t.Helper()
	got := c.chooseVersion(thing(name))
	if isHeld := got.Frozen || got.Undecided; isHeld != (digest == "") || digest != "" && got.Version.Digest != digest {
		t.Errorf("%s is served by %s (held: %v), want %q", name, got.Version.Digest, got.Frozen, digest)
	}
}

// TestCourse: versions that come one after the other, while the process runs.
func TestCourse(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.is(t, "a", "0")
	c.serve("1")
	c.is(t, "a", "0")
	c.try()
	c.is(t, "a", "1") // the first wave
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	c.serve("2") // begins anew; what was reached stays
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	c.try("new")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")

	c.serve("0") // what was reached waits until it is tried
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.is(t, "new", "1")
	c.try("new")
	c.is(t, "a", "0")
	c.is(t, "b", "0")
	c.is(t, "new", "0")
	c.reach("a", "b", "new")
	c.put()

	c.serve("")
	if !c.chooseVersion(thing("a")).Version.Removed {
		t.Error("the folder is gone, and still serves")
	}
	c.serve("0")
	c.is(t, "a", "0")
}

// TestCourseAtStart: a process that begins with another folder than the one
// that made the children.
func TestCourseAtStart(t *testing.T) {
	c := unserved()
	c.serve("1")
	c.is(t, "a", "")
	c.try()
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.serve("2")
	c.is(t, "a", "1")
	c.is(t, "b", "")
	c.serve("3")
	c.is(t, "b", "")
	c.try()
	c.is(t, "a", "3")
	c.is(t, "b", "")
}

// TestNothingMovesBeforeItIsOnRecord: the revision that children are marked with is on record
// before the first of them is.
func TestNothingMovesBeforeItIsOnRecord(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.rollout.Observe(rollout.ResourceOf(thing("a")))
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, Changes: true})
	c.rollout.Step(time.Now())
	c.is(t, "a", "0")
	c.is(t, "new", "0")
	c.put()
	c.is(t, "a", "1")
	c.is(t, "new", "1")
}

// TestRevertEndsAmongEdits: a rollout is taken back, and resources that it had not reached
// are edited and made meanwhile, before and after the preview. The version that serves
// these has the digest of the one that is put back.
func TestRevertEndsAmongEdits(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.try()
	serve := func(o *unstructured.Unstructured) {
		c.recordServed(o, reconcile.Outcome{Version: c.chooseVersion(o).Version, Ready: true})
	}
	serve(thing("a"))
	c.serve("0")
	c.rollout.ObserveAll([]rollout.Resource{rollout.ResourceOf(thing("a")), rollout.ResourceOf(thing("b"))})
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, WasReady: true, Changes: true})
	c.rollout.Previewed(rollout.Preview{UID: "b", Generation: 1, WasReady: true})
	c.rollout.Start(time.Now())
	c.put()
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
// serve after all.
func TestRollbackUnusable(t *testing.T) {
	for _, isPreviewed := range []bool{true, false} {
		c := newCourse()
		c.serve("0")
		if c.serve("1"); isPreviewed {
			c.try()
		}
		c.lost = []string{"earlier"}
		c.crd.Annotations[api.AnnotationRollback] = "earlier 1"
		if c.serve("1"); !isPreviewed && c.rollout != nil {
			t.Error("a rollout that has moved nothing goes on")
		}
		c.is(t, "a", "0")
		if isPreviewed {
			c.rollout.Step(time.Now())
			k := &heartbeat.Kind{Name: "things"}
			if c.describeKind(k, false); k.State != verdict.RolloutStopped || !strings.Contains(k.Message, "revision earlier is not kept") {
				t.Errorf("it is %s: %s", k.State, k.Message)
			}
		}
		delete(c.crd.Annotations, api.AnnotationRollback)
		if c.serve("1"); !isPreviewed {
			c.try()
		}
		c.rollout.Step(time.Now())
		c.put()
		c.is(t, "a", "1")
	}
}

// TestMadeWhileRevertStopped: what is made while a revert waits for an approval can be
// previewed once the version that it is put back to has served it.
func TestMadeWhileRevertStopped(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.try()
	c.serve("0")
	lost := rollout.Child{GroupKind: apischema.GroupKind{Kind: "Namespace"}, Name: "x"}
	c.rollout.Observe(rollout.ResourceOf(thing("a")))
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, WasReady: true, Changes: true, Deletes: []rollout.Child{lost}})
	c.rollout.Step(time.Now())
	c.put()
	made := thing("made")
	c.recordServed(made, reconcile.Outcome{Version: c.chooseVersion(made).Version, Ready: true})
	if due := c.rollout.ToPreview(); len(due) != 1 || due[0].Name != "made" {
		t.Errorf("to be previewed: %v, in %s", due, c.rollout.Record())
	}
}

// TestForced: what a rollout was forced past is told of after it is complete, and
// after a restart, until it is ready or gone.
func TestForced(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.try()
	late := time.Now()
	for _, name := range []string{"a", "b"} {
		c.recordServed(thing(name), reconcile.Outcome{Version: c.chooseVersion(thing(name)).Version})
		late = late.Add(time.Hour)
		c.rollout.Step(late)
		c.rollout.Approve(rollout.Approval{Stop: c.rollout.Record().Stop}, late)
		c.rollout.Step(late)
	}
	if now, _ := c.put(); now.State != rollout.Complete || now.NotReady != 2 {
		t.Fatalf("%s", now)
	}
	again := newCourse()
	again.crd.Annotations = c.crd.Annotations
	again.serve("1")
	for _, c := range []*course{c, again} {
		k := &heartbeat.Kind{}
		if c.describeKind(k, false); k.State != verdict.Serving || !strings.Contains(k.Message, "forced, 2 not ready, as ns/a") {
			t.Errorf("it is %s: %s", k.State, k.Message)
		}
		c.recordServed(thing("a"), reconcile.Outcome{Version: c.targetVersion().version, Ready: true})
		if now, changed := c.newRecord(); !changed || now.NotReady != 1 || now.Passed[0] != "ns/b" {
			t.Errorf("a is ready: %s", now)
		}
	}
	c.put()
	if now, changed := c.newRecord(); changed || now.NotReady != 1 {
		t.Errorf("it is written again: %s", now)
	}
}

// TestCompleteIsServing: of a rollout that is complete nothing more is told, also before it
// is put away.
func TestCompleteIsServing(t *testing.T) {
	c := newCourse()
	c.serve("0")
	c.serve("1")
	c.try()
	c.reach("a", "b")
	if state := c.rollout.Record().State; state != rollout.Complete {
		t.Fatalf("the rollout is %s", state)
	}
	k := &heartbeat.Kind{}
	if c.describeKind(k, false); k.State != verdict.Serving || k.Message != "" {
		t.Errorf("it is %s: %s", k.State, k.Message)
	}
}

// TestResumed: a process that begins in the middle of a rollout, with the revisions of
// what served before. Marks on children tell which one serves a resource.
func TestResumed(t *testing.T) {
	ids := []rollout.Revision{{Number: 1, Digest: "0"}, {Number: 2, Digest: "1"}, {Number: 3, Digest: "lost"}}
	c := unserved()
	c.lost = []string{"lost"}
	c.write(kinds.Writes{Rollout: &rollout.Record{Revisions: ids, State: rollout.Running}})
	c.readMarks = func(uid types.UID) []rollout.Revision {
		return map[types.UID][]rollout.Revision{"a": ids[:2], "b": ids[:1], "c": ids}[uid]
	}
	c.serve("2")
	c.is(t, "a", "1")
	c.is(t, "b", "0")
	c.is(t, "c", "")
	c.readMarks = func(types.UID) []rollout.Revision { return nil } // the children are gone
	c.is(t, "a", "1")
	for _, child := range []string{"PersistentVolumeClaim", "ConfigMap"} {
		if may := c.chooseVersion(thing("a")).MayDelete; may == nil || may(apischema.GroupKind{Kind: child}, &metav1.ObjectMeta{Name: "data"}) == nil {
			t.Errorf("the abandoned rollout of 1 may delete a %s that nobody approved", child)
		}
	}
	if c.chooseVersion(thing("b")).MayDelete != nil {
		t.Error("what served before every rollout may not delete")
	}
	c.try("c", "d") // the first wave reaches a
	if why := c.chooseVersion(thing("c")).Why; why != "revision lost is not kept" {
		t.Errorf("c is held since %q", why)
	}
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	c.serve("3")
	c.try("0", "c", "d")
	c.is(t, "a", "2")
	c.is(t, "b", "0")
	want := append(slices.Clone(ids), rollout.Revision{Number: 4, Digest: "2"}, rollout.Revision{Number: 5, Digest: "3"})
	if diff := cmp.Diff(want, c.rollout.Record().Revisions); diff != "" {
		t.Error(diff)
	}
	if got := c.chooseVersion(thing("a")).Version.Revision; got != "4-2" {
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
	}{"2": {verdict.RolloutStopped, record.Text("things")}, "3": {verdict.RollingOut, "the changed folder is being tried"}} {
		c := unserved()
		c.write(kinds.Writes{Rollout: &record})
		c.serve(digest)
		k := &heartbeat.Kind{Name: "things"}
		if c.describeKind(k, false); k.State != want.state || k.Message != want.message {
			t.Errorf("with folder %s it is %s: %s, want %s: %s", digest, k.State, k.Message, want.state, want.message)
		}
		if now, changed := c.newRecord(); changed {
			t.Errorf("with folder %s the record becomes %s", digest, now)
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

// TestFailureOfHistory: what could not be listed may decide, unless there is no place for it.
func TestFailureOfHistory(t *testing.T) {
	for _, tt := range []struct {
		err   error
		fails bool
	}{{nil, false}, {errNoHome, false}, {errors.New("the API server is away"), true}} {
		h := &history{list: func() ([]*revision.Revision, error) { return nil, tt.err }}
		if h.lookupError() != nil {
			t.Error("nothing was looked for, and it fails")
		}
		if _, err := h.findRevision("1"); err == nil || (h.lookupError() != nil) != tt.fails {
			t.Errorf("%v: %v, %v", tt.err, err, h.lookupError())
		}
	}
}

// TestUndecidedAfterRestart: after a restart in the middle of a rollout, no version serves a
// resource before its preview shows whether the target has reached it.
func TestUndecidedAfterRestart(t *testing.T) {
	ids := []rollout.Revision{{Number: 1, Digest: "0"}, {Number: 2, Digest: "1"}}
	c := unserved()
	c.write(kinds.Writes{Rollout: &rollout.Record{Revisions: ids, State: rollout.Stopped, Reason: rollout.NotReady}})
	c.serve("1")
	c.is(t, "a", "")
	c.rollout.Previewed(rollout.Preview{UID: "a", Generation: 1, Reached: true})
	c.rollout.Start(time.Now())
	c.is(t, "a", "1")
}
