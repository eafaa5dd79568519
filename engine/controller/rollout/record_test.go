package rollout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

func sizes(all ...string) []kind.Wave { return kind.Sizes(all...) }

// TestDeletionListIsWhole: a stored list has what the record has no place for. Another
// list is refused: nothing of it was hashed into the stop.
func TestDeletionListIsWhole(t *testing.T) {
	s := begin(settings(), Record{}, deleting(changing(38), 38, claim))
	record, list := ParseRecord(s.Record().String()), s.DeletionList()
	if record.NamesAll() || len(record.DeletionNames) != 20 || record.DeletionCount != 38 {
		t.Fatalf("the record is %s", record)
	}
	names, err := record.ReadDeletions(list)
	if err != nil || len(names) != 38 || names[37] != "PersistentVolumeClaim ns/c037" {
		t.Errorf("%d names, %v", len(names), err)
	}
	if fmt.Sprint(names[:20]) != fmt.Sprint(record.DeletionNames) {
		t.Errorf("the record names %v, the list %v", record.DeletionNames, names[:20])
	}
	for _, other := range []string{"", "x", strings.Replace(string(list), "c037", "c038", 1), string(list[:len(list)/2])} {
		if _, err := record.ReadDeletions([]byte(other)); err == nil {
			t.Errorf("%.30q… is taken for the list", other)
		}
	}
	s.approve(t, Approval{})
	if len(s.DeletionList()) != 0 {
		t.Errorf("what is approved is listed: %s", s.DeletionList())
	}
}

// TestStopNamesCommands: a stop that does not name all deletions names the command that
// lists them, beside the one that approves them.
func TestStopNamesCommands(t *testing.T) {
	const approves = "; to go on all the same: jacquard approve things)"
	const lists = "; to list all deletions: jacquard status --deletions things" + approves
	for deleted, want := range map[int]string{0: approves, 2: approves, 20: lists} {
		r := Record{State: Stopped, Reason: Deletes, Message: "it would delete", DeletionNames: []string{"Service a/b", "Service a/c"}, DeletionCount: deleted}
		if deleted == 0 {
			r.DeletionNames, r.Reason = nil, NotReady
		}
		if got := r.Text("things"); !strings.HasSuffix(got, " to go"+want) {
			t.Errorf("with %d deletions: %q does not end with %q", deleted, got, want)
		}
	}
}

// TestReadRecord: the record of an earlier version is read so that no rollout begins because
// of an upgrade. Where it is not known which folder served a resource, the base is unknown.
func TestReadRecord(t *testing.T) {
	const rollout, rolledOut = "jacquard.dev/rollout", "jacquard.dev/rolled-out"
	complete := func(digest string) Record { return Record{Revisions: []Revision{{Digest: digest}}, State: Complete} }
	rolling := func(base, target string, state State) Record {
		return Record{Revisions: []Revision{{Digest: base}, {Number: 1, Digest: target}}, State: state}
	}
	for name, test := range map[string]struct {
		annotations map[string]string
		want        Record
	}{
		"none":                {nil, Record{}},
		"no rollout yet":      {map[string]string{rolledOut: "a"}, complete("a")},
		"complete":            {map[string]string{rolledOut: "b", rollout: `{"digest":"b","state":"Complete","done":3}`}, complete("b")},
		"approved for all":    {map[string]string{rolledOut: "b", rollout: `{"digest":"b","state":"Complete","approved":["NotReady"]}`}, complete("b")},
		"running":             {map[string]string{rolledOut: "a", rollout: `{"digest":"b","state":"Running","reached":"xxxxxxxx"}`}, rolling("a", "b", Running)},
		"stopped, approved":   {map[string]string{rolledOut: "a", rollout: `{"digest":"b","state":"Stopped","approvedSet":"xxxxxxxx"}`}, rolling("a", "b", Stopped)},
		"another was reached": {map[string]string{rolledOut: "a", rollout: `{"digest":"c","state":"Running","kept":{"b":"xxxxxxxx"}}`}, rolling(Unknown, "c", Running)},
		"being taken back":    {map[string]string{rolledOut: "a", rollout: `{"digest":"a","state":"Stopped"}`}, rolling(Unknown, "a", Stopped)},
		"without base":        {map[string]string{rollout: `{"digest":"a","state":"Running"}`}, rolling(Unknown, "a", Running)},
		"the present form":    {map[string]string{rolledOut: "x", rollout: rolling("a", "b", Running).String()}, rolling("a", "b", Running)},
		"no record":           {map[string]string{rollout: "{"}, Record{}},
	} {
		got := ReadRecord(test.annotations, func(key string) string { return key })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestRecordNames covers what commands read of a record.
func TestRecordNames(t *testing.T) {
	a, b, c := Revision{1, "a"}, Revision{2, "b"}, Revision{3, "c"}
	r := Record{Revisions: []Revision{a, b, c}, State: Running}
	if r.Base() != a || r.Target() != c || !r.IsAbandoned("b") || r.IsAbandoned("a") || r.IsAbandoned("c") {
		t.Errorf("%s", r)
	}
	if diff := cmp.Diff(r.Revisions, r.RevisionsWith("c")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Revision{a, b, c, {4, "a"}}, r.RevisionsWith("a")); diff != "" {
		t.Error(diff)
	}
}
