package health

import (
	"context"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// dropClaimless moves installations without a claim on any CRD to Claimless. Whoever may
// write Leases in some namespace can write a report, but only an operator can claim a CRD.
// An installation that the caller named needs no claim. If CRDs may not be listed, all
// reports are shown, and none decides that something is healthy or unhealthy.
func (l *look) dropClaimless(ctx context.Context) {
	if l.Identity != "" || l.OperatorNamespace != "" {
		return
	}
	all, err := l.Definitions(ctx)
	if err != nil {
		l.addUnknown("which operators hold a claim on a CRD", err)
		l.claimsUnread = true
		l.unread = append(l.unread, verdict.OperatorUnreadable)
		return
	}
	l.claims = map[string][]string{}
	held := map[string]bool{}
	for _, crd := range all {
		l.claims[crd.GetName()] = liveview.ClaimIdentities(crd)
		for _, identity := range l.claims[crd.GetName()] {
			held[identity] = true
		}
	}
	l.Installations = slices.DeleteFunc(l.Installations, func(i *Installation) bool {
		if !held[i.Identity] && !l.hasEnded(ctx, i) {
			l.Claimless = append(l.Claimless, i.Identity)
		}
		return !held[i.Identity]
	})
}

// hasEnded reports whether the installation is an operator outside of the cluster that has
// ended, which gave its claims back.
func (l *look) hasEnded(ctx context.Context, i *Installation) bool {
	if !i.Local {
		return false
	}
	lease, err := l.Object(ctx, leases, i.Namespace, api.Lease(i.Identity))
	return err == nil && l.read(lease).State == verdict.NoLeader
}

// limitToClaims returns what an installation reports of a kind. It is Elsewhere if others hold
// all claims on the CRD, whatever the report contains.
func (l *look) limitToClaims(i *Installation, k heartbeat.Kind) heartbeat.Kind {
	claims := l.claims[k.Name]
	if len(claims) == 0 || slices.Contains(claims, i.Identity) || k.State == verdict.ServedElsewhere {
		return k
	}
	return heartbeat.Kind{Name: k.Name, State: verdict.ServedElsewhere, Message: "its CRD is claimed by " + strings.Join(claims, ", ")}
}

// mayServe reports whether an installation may hold a claim on a CRD. One that the caller may
// not read is claimed by nobody, as far as is known.
func (l *look) mayServe(i *Installation, name string) bool {
	return !l.claimsUnread || slices.Contains(l.claims[name], i.Identity)
}

// readClaims reads the claims on one CRD, for a caller who may not list CRDs.
func (l *look) readClaims(ctx context.Context, name string) {
	if l.claims != nil || l.Identity != "" || l.OperatorNamespace != "" {
		return
	}
	if crd, err := l.CRD(ctx, name); err == nil && crd != nil {
		l.claims = map[string][]string{name: liveview.ClaimIdentities(crd)}
	}
}
