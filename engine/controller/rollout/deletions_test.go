package rollout

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeletionListIsWhole: a stored list has what the record has no place for. Another
// list is refused: of it nothing was hashed into the stop.
func TestDeletionListIsWhole(t *testing.T) {
	r := Begin(lose(ready(38), 38, claim), settings(), Record{}, start)
	record, list := Read(r.Record().String()), r.DeletionList()
	if record.NamesAll() || len(record.Deletes) != 20 || record.Deleted != 38 {
		t.Fatalf("the record is %s", record)
	}
	names, err := record.ReadDeletions(list)
	if err != nil || len(names) != 38 || names[37] != "PersistentVolumeClaim ns/c0037" {
		t.Errorf("%d names, %v", len(names), err)
	}
	if fmt.Sprint(names[:20]) != fmt.Sprint(record.Deletes) {
		t.Errorf("the record names %v, the list %v", record.Deletes, names[:20])
	}
	for _, other := range []string{"", "x", strings.Replace(string(list), "c0037", "c0038", 1), string(list[:len(list)/2])} {
		if _, err := record.ReadDeletions([]byte(other)); err == nil {
			t.Errorf("%.30q… is taken for the list", other)
		}
	}
	r.approve()
	if len(r.DeletionList()) != 0 {
		t.Errorf("what is approved is listed: %s", r.DeletionList())
	}
}

// TestStopNamesCommands: a stop that does not name all deletions names the command that
// lists them, beside the one that approves them.
func TestStopNamesCommands(t *testing.T) {
	const approves = "; to go on all the same: jacquard approve things)"
	const lists = "; to list all deletions: jacquard status --deletions things" + approves
	for deleted, want := range map[int]string{0: approves, 2: approves, 20: lists} {
		r := Record{State: Stopped, Reason: Deletes, Message: "it would delete", Deletes: []string{"Service a/b", "Service a/c"}, Deleted: deleted}
		if deleted == 0 {
			r.Deletes, r.Reason = nil, NotReady
		}
		if got := r.Text("things"); !strings.HasSuffix(got, " to go"+want) {
			t.Errorf("with %d deletions: %q does not end with %q", deleted, got, want)
		}
	}
}
