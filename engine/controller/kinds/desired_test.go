package kinds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

var (
	things     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
	configMaps = RecordedKind{GroupKind: schema.GroupKind{Kind: "ConfigMap"}}
	compiled   = &kind.Kind{GVK: things, Children: []kind.Child{{GroupVersionKind: configMaps.WithVersion("v1")}}}

	recordA         = rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "aaaa"}}, State: rollout.Complete}
	recordAB        = rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: "aaaa"}, {Number: 2, Digest: "bbbb"}}, State: rollout.Stopped}
	recordRemoved   = rollout.Record{Revisions: recordA.Revisions, State: rollout.Removed}
	recordABRemoved = rollout.Record{Revisions: recordAB.Revisions, State: rollout.Removed, Approved: "12345678"}
)

// serving returns the inputs of an ordinary leader: folder aaaa serves all resources, and the
// revisions aaaa and bbbb are stored. Each case changes some of them.
func serving() Inputs {
	in := Inputs{
		CRDsListed: true, FoldersRead: true, Role: Leader, Claim: Claimed, Exclusive: true, StoresRevisions: true,
		CRD:    &CRD{Established: true, Storage: things},
		Record: Record{Kinds: []RecordedKind{configMaps}, Rollout: recordA},
		Folder: Folder{Present: true, Digest: "aaaa", Kind: compiled},
		Version: func(digest string) (*kind.Kind, error) {
			if digest == "aaaa" || digest == "bbbb" {
				return compiled, nil
			}
			return nil, fmt.Errorf("revision %s is not stored", digest)
		},
		IsDiscovered: func(schema.GroupVersionKind) bool { return true },
	}
	return in
}

// decide decides with numbers that continue those on record.
func decide(in Inputs) Desired {
	in.NextNumber = func(string) int64 { return in.Record.Rollout.Target().Number + 1 }
	return Decide(in)
}

// summary formats a Desired in one line: the mode, the reason, the revisions, and the writes.
// An exclamation mark follows revisions that cannot serve.
func summary(d Desired) string {
	words := []string{string(d.Mode), string(d.Reason)}
	for _, v := range d.Versions {
		word := v.Revision.String()
		if v.Err != nil {
			word += "!"
		}
		words = append(words, word)
	}
	if d.IsRevert {
		words = append(words, "revert")
	}
	if d.Halted != "" {
		words = append(words, "halted")
	}
	if d.Rollback.To != "" {
		words = append(words, "rollback")
	}
	if d.Writes.Claim {
		words = append(words, "+claim")
	}
	for _, k := range d.Writes.Kinds {
		words = append(words, "+"+k.Kind)
	}
	if settings := d.Writes.Deletion; settings != nil {
		words = append(words, "+leaving="+strings.Join(settings.DeletionOrder, ","))
	}
	if d.Paused {
		words = append(words, "paused")
	}
	switch back := d.Writes.Rollback; {
	case back == nil:
	case back.To == "":
		words = append(words, "-rollback")
	default:
		words = append(words, "+rollback="+back.String())
	}
	if r := d.Writes.Rollout; r != nil {
		words = append(words, "+"+string(r.State))
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// TestDecide has a case for each situation of a kind. What is to be recorded is recorded before
// anything else happens, so the decision after it is the same, with nothing left to record.
func TestDecide(t *testing.T) {
	noFolder, broken := Folder{}, Folder{Present: true, Err: errors.New("kind.yaml: line 3")}
	folder := func(digest string) Folder { return Folder{Present: true, Digest: digest, Kind: compiled} }
	lost := func(string) (*kind.Kind, error) { return nil, errors.New("not stored") }
	back := rollout.Rollback{To: "aaaa", From: "bbbb"}
	// fail lets the rollout of folder bbbb fail, which is to be rolled back then.
	fail := func(in *Inputs) *rollout.Record {
		in.Folder = folder("bbbb")
		in.Folder.Kind = &kind.Kind{GVK: things, Children: compiled.Children, Settings: kind.Settings{Rollout: kind.Rollout{OnFailure: kind.OnFailureRollback}}}
		in.Record.Rollout = rollout.Record{Revisions: slices.Clone(recordAB.Revisions), State: rollout.Stopped, Reason: rollout.NotReady}
		return &in.Record.Rollout
	}
	for _, tt := range []struct {
		name   string
		change func(in *Inputs)
		want   string
	}{
		{"recorded folder", func(*Inputs) {}, "Serve 1-aaaa"},

		// Incomplete knowledge.
		{"CRDs not listed", func(in *Inputs) { in.CRDsListed, in.CRD = false, nil }, "Undecided CRDsNotListed"},
		{"folders not read", func(in *Inputs) { in.FoldersRead, in.Folder = false, noFolder }, "Undecided FoldersNotRead"},
		{"kind not discovered", func(in *Inputs) { in.IsDiscovered = func(schema.GroupVersionKind) bool { return false } }, "Undecided NotDiscovered"},
		{"record stale", func(in *Inputs) { in.Record.IsStale = true }, "Undecided RecordStale"},
		{"record stale, folder removed", func(in *Inputs) { in.Record, in.Folder = Record{IsStale: true}, noFolder }, "Undecided RecordStale"},
		{"no share assigned", func(in *Inputs) { in.Role = Unassigned }, "Undecided NoLease"},
		{"folder may be being copied", func(in *Inputs) { in.Folder.IsUnsettled = true }, "Undecided FolderUnsettled"},

		// Nothing to serve, or a claim of another installation.
		{"no CRD", func(in *Inputs) { in.CRD = nil }, "Stopped NoCRD"},
		{"CRD not established", func(in *Inputs) { in.CRD.Established = false }, "Stopped NotEstablished"},
		{"no folder, no kind recorded", func(in *Inputs) { in.Folder, in.Record.Kinds = noFolder, nil }, "Stopped NoFolder"},
		{"claimed elsewhere", func(in *Inputs) { in.Claim = ClaimedElsewhere }, "Stopped ServedElsewhere"},
		{"no folder, unclaimed", func(in *Inputs) { in.Folder, in.Claim = noFolder, Unclaimed }, "Stopped ServedElsewhere"},
		{"follower, unclaimed", func(in *Inputs) { in.Role, in.Claim = Follower, Unclaimed }, "Stopped ServedElsewhere"},
		{"no storage version", func(in *Inputs) { in.Folder, in.CRD.Storage = noFolder, schema.GroupVersionKind{} }, "Stopped NoStorageVersion"},

		// The first folder of a kind.
		{"first folder", func(in *Inputs) { in.Record, in.Claim = Record{}, Unclaimed }, "Serve 1-aaaa +claim +ConfigMap +Complete"},
		{"first folder, read-only", func(in *Inputs) { in.Record, in.Claim, in.ReadOnly = Record{}, Unclaimed, true }, "Serve 1-aaaa paused"},
		{"claim removed while the kind is running", func(in *Inputs) { in.Claim, in.Running = Unclaimed, true }, "Serve 1-aaaa"},
		{"claim of other resources", func(in *Inputs) { in.Claim = ClaimedChanged }, "Serve 1-aaaa +claim"},
		{"first folder invalid", func(in *Inputs) { in.Record, in.Folder = Record{}, broken }, "DeleteOnly FolderInvalid"},
		{"rollout record lost", func(in *Inputs) { in.Record.Rollout = rollout.Record{} }, "Serve 0-unknown! 1-aaaa"},

		// Another folder. Its rollout is recorded once it begins, before anything moves.
		{"folder changed", func(in *Inputs) { in.Folder = folder("bbbb") }, "Serve 1-aaaa 2-bbbb"},
		{"folder changed, previous revision lost", func(in *Inputs) { in.Folder, in.Version = folder("bbbb"), lost }, "Serve 1-aaaa! 2-bbbb"},
		{"folder changed, other replicas still serve", func(in *Inputs) { in.Folder, in.Exclusive = folder("bbbb"), false }, "Undecided NotExclusive 1-aaaa 2-bbbb"},
		{"folder changed, read-only", func(in *Inputs) { in.Folder, in.ReadOnly = folder("bbbb"), true }, "Serve 1-aaaa 2-bbbb paused"},
		{"rollout recorded", func(in *Inputs) { in.Folder, in.Record.Rollout = folder("bbbb"), recordAB }, "Serve 1-aaaa 2-bbbb"},
		{"third folder during a rollout", func(in *Inputs) { in.Folder, in.Record.Rollout = folder("cccc"), recordAB }, "Serve 1-aaaa 2-bbbb 3-cccc"},
		{"base restored during a rollout", func(in *Inputs) { in.Record.Rollout = recordAB }, "Serve 1-aaaa 2-bbbb 3-aaaa revert"},
		{"folder changed, no kind recorded", func(in *Inputs) { in.Folder, in.Record.Kinds = folder("bbbb"), nil }, "Serve 2-bbbb +ConfigMap +Complete"},
		{"kind paused", func(in *Inputs) { in.Folder, in.Paused = folder("bbbb"), true }, "Serve 1-aaaa 2-bbbb paused"},
		{"settings for deletions changed", func(in *Inputs) {
			in.Folder.Kind = &kind.Kind{GVK: things, Children: compiled.Children, Settings: kind.Settings{DeletionOrder: []string{"a", "b"}}}
		}, "Serve 1-aaaa +leaving=a,b"},

		// A folder that does not load, or was removed.
		{"folder invalid", func(in *Inputs) { in.Folder = broken }, "Serve FolderInvalid 1-aaaa"},
		{"folder invalid during a rollout", func(in *Inputs) { in.Folder, in.Record.Rollout = broken, recordAB }, "Serve FolderInvalid 1-aaaa 2-bbbb"},
		{"folder invalid, no revision stored", func(in *Inputs) { in.Folder, in.Version = broken, lost }, "DeleteOnly FolderInvalid"},
		{"folder removed", func(in *Inputs) { in.Folder = noFolder }, "DeleteOnly FolderRemoved +Removed"},
		{"folder removed, recorded", func(in *Inputs) { in.Folder, in.Record.Rollout = noFolder, recordRemoved }, "DeleteOnly FolderRemoved"},
		{"folder removed, no rollout recorded", func(in *Inputs) { in.Folder, in.Record.Rollout = noFolder, rollout.Record{} }, "DeleteOnly FolderRemoved"},
		{"folder removed, settings for deletions recorded", func(in *Inputs) {
			in.Folder, in.Record.Rollout, in.Record.Deletion = noFolder, recordRemoved, kind.DeletionSettings{DeletionOrder: []string{"a"}}
		}, "DeleteOnly FolderRemoved"},
		{"folder restored", func(in *Inputs) { in.Record.Rollout = recordRemoved }, "Serve 1-aaaa +Complete"},
		{"folder restored during a rollout", func(in *Inputs) { in.Folder, in.Record.Rollout = folder("bbbb"), recordABRemoved }, "Serve 1-aaaa 2-bbbb +Running"},
		{"another folder after it was removed", func(in *Inputs) { in.Folder, in.Record.Rollout = folder("bbbb"), recordRemoved }, "Serve 1-aaaa 2-bbbb +Complete"},

		// Rollbacks.
		{"rolled back", func(in *Inputs) {
			in.Folder, in.Record.Rollout.Revisions, in.Record.Rollback = folder("bbbb"), []rollout.Revision{{Number: 2, Digest: "bbbb"}}, back
		}, "Serve RolledBack 2-bbbb 3-aaaa rollback"},
		{"rolled back during a rollout", func(in *Inputs) {
			in.Folder, in.Record.Rollout, in.Record.Rollback = folder("bbbb"), recordAB, back
		}, "Serve RolledBack 1-aaaa 2-bbbb 3-aaaa revert rollback"},
		{"rolled back to a lost revision", func(in *Inputs) {
			in.Folder, in.Record.Rollout.Revisions, in.Version, in.Record.Rollback = folder("bbbb"), []rollout.Revision{{Number: 2, Digest: "bbbb"}}, lost, back
		}, "Serve RollbackFailed 2-bbbb halted"},
		{"rolled back to a lost revision during a rollout", func(in *Inputs) {
			in.Folder, in.Record.Rollout, in.Record.Rollback = folder("bbbb"), recordAB, rollout.Rollback{To: "ffff", From: "bbbb"}
		}, "Serve RollbackFailed 1-aaaa 2-bbbb halted"},
		{"rolled back to a lost revision from a folder that was never served", func(in *Inputs) {
			in.Folder, in.Record.Rollback = folder("bbbb"), rollout.Rollback{To: "ffff", From: "bbbb"}
		}, "Serve RollbackFailed 1-aaaa"},
		{"rolled back to a lost revision, nothing recorded", func(in *Inputs) {
			in.Folder, in.Record.Rollout, in.Record.Rollback = folder("bbbb"), rollout.Record{}, rollout.Rollback{To: "ffff", From: "bbbb"}
		}, "DeleteOnly RollbackFailed"},
		{"rolled back, and complete", func(in *Inputs) { in.Folder, in.Record.Rollback = folder("bbbb"), back }, "Serve RolledBack 1-aaaa rollback"},
		{"rolled back, but the folder is the target", func(in *Inputs) { in.Record.Rollback = back }, "Serve 1-aaaa rollback"},
		{"rolled back, then a third folder", func(in *Inputs) { in.Folder, in.Record.Rollback = folder("cccc"), back }, "Serve 1-aaaa 2-cccc -rollback"},
		{"rolled back, then a folder that does not load", func(in *Inputs) { in.Folder, in.Record.Rollback = broken, back }, "Serve FolderInvalid 1-aaaa rollback"},
		{"rolled back from a folder that does not load any more", func(in *Inputs) {
			in.Folder, in.Record.Rollout, in.Record.Rollback = broken, recordAB, back
		}, "Serve RolledBack 1-aaaa 2-bbbb 3-aaaa revert rollback"},
		{"rolled back, then the folder is removed", func(in *Inputs) { in.Folder, in.Record.Rollback = noFolder, back }, "DeleteOnly FolderRemoved +Removed"},

		// Rollbacks by the operator itself.
		{"rollout failed", func(in *Inputs) { fail(in) }, "Serve RolledBack 1-aaaa 2-bbbb 3-aaaa revert rollback +rollback=aaaa bbbb onFailure +Running"},
		{"rollout refused", func(in *Inputs) { fail(in).Reason = rollout.Refused },
			"Serve RolledBack 1-aaaa 2-bbbb 3-aaaa revert rollback +rollback=aaaa bbbb onFailure +Running"},
		{"rollout failed after another one was abandoned", func(in *Inputs) {
			fail(in).Revisions = []rollout.Revision{{Number: 1, Digest: "aaaa"}, {Number: 2, Digest: "cccc"}, {Number: 3, Digest: "bbbb"}}
		}, "Serve RolledBack 1-aaaa 2-cccc! 3-bbbb 4-aaaa revert rollback +rollback=aaaa bbbb onFailure +Running"},
		{"rollout failed, and a person approves", func(in *Inputs) { fail(in).Stop, in.Record.Approved = "bbbb/NotReady/1", "bbbb/NotReady/1" }, "Serve 1-aaaa 2-bbbb"},
		{"rollout keeps children", func(in *Inputs) { fail(in).Reason = rollout.PruneBlocked }, "Serve 1-aaaa 2-bbbb"},
		{"rollout held back deletions", func(in *Inputs) { fail(in).Reason = rollout.Deletes }, "Serve 1-aaaa 2-bbbb"},
		{"rollout runs", func(in *Inputs) { fail(in).State = rollout.Running }, "Serve 1-aaaa 2-bbbb"},
		{"rollout failed, and is to stop", func(in *Inputs) { fail(in); in.Folder = folder("bbbb") }, "Serve 1-aaaa 2-bbbb"},
		{"rollout failed again", func(in *Inputs) { fail(in).Failed.Digest = "bbbb" }, "Serve NotRolledBack 1-aaaa 2-bbbb"},
		{"rollout failed, revision lost", func(in *Inputs) { fail(in); in.Version = lost }, "Serve NotRolledBack 1-aaaa! 2-bbbb"},
		{"rollout failed, base unknown", func(in *Inputs) { fail(in).Revisions[0].Digest = rollout.Unknown }, "Serve NotRolledBack 1-unknown! 2-bbbb"},
		{"rollout failed, revisions not stored", func(in *Inputs) { fail(in); in.StoresRevisions = false }, "Serve NotRolledBack 1-aaaa 2-bbbb"},
		{"rollout failed, kind paused", func(in *Inputs) { fail(in); in.Paused = true }, "Serve 1-aaaa 2-bbbb paused"},
		{"rollout failed, read-only", func(in *Inputs) { fail(in); in.ReadOnly = true }, "Serve 1-aaaa 2-bbbb paused"},
		{"rollout failed, candidate", func(in *Inputs) { fail(in); in.Role = Candidate }, "Standby 1-aaaa 2-bbbb"},
		{"rollout failed, other replicas serve", func(in *Inputs) { fail(in); in.Exclusive = false }, "Undecided NotExclusive 1-aaaa 2-bbbb 3-aaaa revert rollback"},
		{"rollout failed, then the base restored", func(in *Inputs) { fail(in); in.Folder = folder("aaaa") }, "Serve 1-aaaa 2-bbbb 3-aaaa revert"},
		{"rollout failed, then a folder that does not load", func(in *Inputs) { fail(in); in.Folder = broken }, "Serve FolderInvalid 1-aaaa 2-bbbb"},
		{"rollout of the revision of a rollback failed", func(in *Inputs) { fail(in); in.Record.Rollback = rollout.Rollback{To: "bbbb", From: "cccc"} },
			"Serve 1-aaaa 2-bbbb rollback"},

		// Replicas.
		{"candidate", func(in *Inputs) { in.Role, in.Folder = Candidate, folder("bbbb") }, "Standby 1-aaaa 2-bbbb"},
		{"candidate, claimed elsewhere", func(in *Inputs) { in.Role, in.Claim = Candidate, ClaimedElsewhere }, "Stopped ServedElsewhere"},
		{"follower", func(in *Inputs) { in.Role = Follower }, "Serve 1-aaaa"},
		{"follower with another folder", func(in *Inputs) { in.Role, in.Folder = Follower, folder("bbbb") }, "Serve 1-aaaa"},
		{"follower without a folder", func(in *Inputs) { in.Role, in.Folder = Follower, noFolder }, "Serve 1-aaaa"},
		{"follower during a rollout", func(in *Inputs) { in.Role, in.Record.Rollout = Follower, recordAB }, "Undecided LeaderRollsOut"},
		{"follower, nothing recorded", func(in *Inputs) { in.Role, in.Record.Rollout = Follower, rollout.Record{} }, "Undecided LeaderRollsOut"},
		{"follower, folder removed", func(in *Inputs) { in.Role, in.Record.Rollout = Follower, recordRemoved }, "DeleteOnly FolderRemoved"},
		{"follower, revision missing", func(in *Inputs) { in.Role, in.Folder, in.Version = Follower, folder("bbbb"), lost }, "Stopped RevisionMissing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := serving()
			tt.change(&in)
			d := decide(in)
			if got := summary(d); got != tt.want {
				t.Fatalf("got  %s\nwant %s", got, tt.want)
			}
			if d.Mode == Serve && (len(d.Versions) == 0 || d.Versions[len(d.Versions)-1].Kind == nil) {
				t.Error("there is no target that can serve")
			}
			if w := d.Writes; !w.IsEmpty() {
				in.Record.Kinds = append(in.Record.Kinds, w.Kinds...)
				if in.Claim = Claimed; w.Rollout != nil {
					in.Record.Rollout = *w.Rollout
				}
				if w.Deletion != nil {
					in.Record.Deletion = *w.Deletion
				}
				if w.Rollback != nil {
					in.Record.Rollback = *w.Rollback
				}
				again := decide(in)
				if !again.Writes.IsEmpty() || len(again.Versions) != len(d.Versions) || again.IsRevert != d.IsRevert || again.Mode != d.Mode {
					t.Errorf("after the write: %s", summary(again))
				}
			}
		})
	}
}

// TestRestoredRolloutKeepsApprovals: what was approved before the folder was removed stays
// approved when it is there again.
func TestRestoredRolloutKeepsApprovals(t *testing.T) {
	in := serving()
	in.Folder.Digest, in.Record.Rollout = "bbbb", recordABRemoved
	if w := decide(in).Writes.Rollout; w == nil || w.Approved != recordABRemoved.Approved {
		t.Errorf("the record becomes %v", w)
	}
}
