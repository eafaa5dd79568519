package health

import (
	"context"
	"slices"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A PresentFolder is what can be known of the folder that a kind has now, whether its
// operator has loaded it or not.
type PresentFolder struct {
	// Source is that of the operator's ConfigMaps, or nil: it is in a root, or may not be
	// read.
	Source *folder.Source
	// Stopped says why no operator looks at the folder, or why that is not known; "" if one
	// does.
	Stopped string
	// Unknown says what could not be read.
	Unknown []string
}

// FindPresentFolder finds the folder that a kind has now, by the name of its CRD.
func FindPresentFolder(ctx context.Context, s *liveview.Survey, asked Asked, name string) PresentFolder {
	l := &look{Survey: s, Asked: asked, Health: &Health{}}
	l.findInstallations(ctx)
	for _, i := range l.Installations {
		if i.report == nil {
			continue
		}
		k := slices.IndexFunc(i.report.Kinds, func(k heartbeat.Kind) bool { return k.Name == name && k.State != verdict.ServedElsewhere })
		if k < 0 {
			continue
		}
		l.readLeader(ctx, i)
		present := PresentFolder{Source: l.findSource(ctx, i, i.report.Kinds[k])}
		if i.Leader.isDead() {
			present.Stopped = "no operator runs: " + i.Identity + " is stopped"
		}
		present.Unknown = l.Unknown
		return present
	}
	if l.LeasesUnread != "" {
		return PresentFolder{Stopped: "it is not known whether an operator runs, since its Leases could not be read: " + l.LeasesUnread}
	}
	return PresentFolder{Stopped: "no operator reports that it has a folder for it", Unknown: l.Unknown}
}

// findSource returns the present content of the ConfigMap, or the ConfigMaps, that an operator
// reports as the folder of a kind. It is nil if the operator reports another place, or if they may
// not be read.
func (l *look) findSource(ctx context.Context, i *Installation, reported heartbeat.Kind) *folder.Source {
	items, err := l.listConfigMaps(ctx, i)
	if err != nil {
		l.addUnknown("the present folder of "+reported.Name, err)
		return nil
	}
	sources := folder.FromConfigMaps(items)
	n := slices.IndexFunc(sources, func(s folder.Source) bool { return s.Kind == reported.Name && s.Shown == reported.Folder })
	if n < 0 {
		return nil
	}
	return &sources[n]
}
