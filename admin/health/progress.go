package health

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A Progress is how far the present folder of a kind has come.
type Progress struct {
	// Done: it serves every resource. Failed: it does not, until a person changes
	// something.
	Done, Failed bool
	// Message says how it stands.
	Message string
}

// ProgressOf returns how far the present folder of a kind has come, by the name of its
// CRD. That is the folder of the operator's ConfigMaps; if there is none, or they may
// not be read, that of asked.Folders; else the one that the operator reports.
func ProgressOf(ctx context.Context, s *liveview.Survey, asked Asked, name string) Progress {
	l := &look{Survey: s, Asked: asked, Health: &Health{}}
	l.findInstallations(ctx)
	l.dropClaimless(ctx)
	l.readClaims(ctx, name)
	var all []Progress
	for _, i := range l.Installations {
		if i.report == nil {
			continue
		}
		for _, reported := range i.report.Kinds {
			if reported = l.limitToClaims(i, reported); reported.Name != name || reported.State == verdict.ServedElsewhere || !l.mayServe(i, name) {
				continue
			}
			l.readLeader(ctx, i)
			folders, _ := l.readFolders(ctx, i) // what may not be read is as the operator reports it
			p := judgeProgress(reported, folders[name], i.Leader)
			if newer := l.readNewer(ctx, i, reported); newer != "" && (p.Done || p.Failed) {
				p = Progress{Message: "RollingOut: " + newer}
			}
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		text := "no operator that holds a claim reports that it has a folder for it"
		if l.LeasesUnread != "" {
			text = "it is not known whether an operator has a folder for it"
		}
		unseen := slices.Concat([]string{text}, l.Unknown)
		return Progress{Message: strings.Join(unseen, "; ")}
	}
	return joinProgress(all)
}

// joinProgress returns the progress of a kind that several operators share.
func joinProgress(all []Progress) Progress {
	return slices.MinFunc(all, func(a, b Progress) int { return cmp.Compare(a.sortRank(), b.sortRank()) })
}

// sortRank returns the rank by which the progress of several operators is ordered. One that failed
// comes first, then one that goes on.
func (p Progress) sortRank() int {
	switch {
	case p.Failed:
		return 0
	case p.Done:
		return 2
	}
	return 1
}

// judgeProgress judges what an operator reports of a kind. present is its folder, if that is known.
// Nothing is done while it is not known whether the operator runs.
func judgeProgress(reported heartbeat.Kind, present *folder.Folder, leader Leader) Progress {
	text := string(reported.State)
	if reported.Message != "" {
		text += ": " + reported.Message
	}
	switch {
	case leader.isDead():
		return Progress{Message: "its operator does not run"}
	case leader.State == verdict.LeaseOverdue:
		return Progress{Message: "it is not known whether its operator runs: the Lease of the leader is not renewed"}
	case present != nil && !strings.HasPrefix(present.Digest, reported.Digest):
		return Progress{Message: "the operator has not loaded the present folder yet"}
	case reported.State == verdict.Serving:
		return Progress{Done: true, Message: text}
	case reported.State.IsWaitOver():
		return Progress{Failed: true, Message: text}
	}
	return Progress{Message: text}
}
