package controller

import (
	"errors"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// TestAnnouncements: what changes about a kind is logged once. Its folder is the subject of events
// that only the leader writes, once for each text: also if it was broken, or repaired, while the
// process did not lead.
func TestAnnouncements(t *testing.T) {
	loaded := func(p *kindPass) {
		p.in.Folder = kinds.Folder{Present: true, Digest: "1", Kind: &kind.Kind{}}
	}
	broken := func(p *kindPass) { p.in.Folder = kinds.Folder{Present: true, Err: errors.New("it is wrong")} }
	removed := func(p *kindPass) { p.in.Folder = kinds.Folder{} }
	second := func(k *kindState) { k.source = chosenSource{shown: "root", idle: []string{"configmap"}} }
	type pass struct {
		folder  func(*kindPass)
		noCRD   bool
		follows bool
		source  func(*kindState)
		reason  kinds.Reason
		want    []string
	}
	for name, passes := range map[string][]pass{
		"loads":              {{folder: loaded}, {folder: loaded}},
		"broken":             {{folder: broken, want: []string{"log", "FolderInvalid"}}, {folder: broken}},
		"repaired":           {{folder: broken, want: []string{"log", "FolderInvalid"}}, {folder: loaded, want: []string{"log", "FolderValid"}}},
		"leads later":        {{folder: broken, follows: true, want: []string{"log"}}, {folder: broken, want: []string{"FolderInvalid"}}},
		"leads again":        {{folder: broken, want: []string{"log", "FolderInvalid"}}, {folder: broken, follows: true}, {folder: broken}},
		"another had led":    {{folder: broken, follows: true, want: []string{"log"}}, {folder: loaded, follows: true, want: []string{"log"}}, {folder: loaded}},
		"repaired meanwhile": {{folder: broken, want: []string{"log", "FolderInvalid"}}, {folder: loaded, follows: true, want: []string{"log"}}, {folder: loaded, want: []string{"FolderValid"}}},
		"record is stale": {{folder: broken, follows: true, want: []string{"log"}},
			{folder: broken, reason: kinds.RecordStale, want: []string{"FolderInvalid"}}, {folder: broken}},
		"removed":              {{folder: loaded}, {folder: removed, reason: kinds.FolderRemoved, want: []string{"log FolderRemoved"}}},
		"removed and follows":  {{folder: loaded}, {folder: removed, follows: true, reason: kinds.FolderRemoved, want: []string{"log"}}},
		"broken, then removed": {{folder: broken, want: []string{"log", "FolderInvalid"}}, {folder: removed, reason: kinds.FolderRemoved, want: []string{"log FolderRemoved"}}},
		"no CRD":               {{folder: loaded, noCRD: true, reason: kinds.NoCRD, want: []string{"log"}}, {folder: loaded}},
		"second folder": {{folder: loaded, source: second, want: []string{"log", "DuplicateFolder"}}, {folder: loaded, source: second},
			{folder: loaded}},
		"unsettled": {{folder: loaded, reason: kinds.FolderUnsettled}, {folder: removed, reason: kinds.FolderRemoved, want: []string{"log FolderRemoved"}}},
	} {
		k := &kindState{}
		for i, one := range passes {
			p := &kindPass{in: kinds.Inputs{CRD: &kinds.CRD{}}}
			if one.folder(p); one.noCRD {
				p.in.CRD = nil
			}
			if k.source = (chosenSource{}); one.source != nil {
				one.source(k)
			}
			before := k.report
			k.report = p.makeReport(kinds.Desired{Reason: one.reason}, k, !one.follows)
			var got []string
			for _, a := range k.report.announcementsSince(before) {
				switch {
				case a.log != "" && a.reason != "":
					got = append(got, "log "+a.reason)
				case a.log != "":
					got = append(got, "log")
				default:
					got = append(got, a.reason)
				}
			}
			if !slices.Equal(got, one.want) {
				t.Errorf("%s, pass %d: %q, want %q", name, i+1, got, one.want)
			}
		}
	}
}
