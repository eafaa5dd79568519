package health

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// Format is the version of a Health as JSON. Fields may be added; what is there
// stays.
const Format = 1

// A Health is how Jacquard is in a cluster.
type Health struct {
	Version int `json:"version"`
	// State is the verdict over all that was looked at, and Headline says so, and what
	// was looked at.
	State         verdict.Verdict `json:"state"`
	Headline      string          `json:"summary"`
	Installations []*Installation `json:"installations"`
	// Claimless are the identities of installations that hold no claim on a CRD. They are
	// not among Installations, and their reports decide nothing.
	Claimless []string `json:"withoutClaim,omitempty"`
	// Starting are the identities of operators, or else the Deployments, that are
	// there and have not reported yet.
	Starting []string `json:"starting,omitempty"`
	// Forsaken are CRDs that bear the claim of an operator that is not there.
	Forsaken []Claim `json:"abandonedClaims,omitempty"`
	// LeasesUnread says why the Leases could not be read, by which operators are found: which
	// operators there are, beside those that are told, is not known then.
	LeasesUnread string `json:"leasesError,omitempty"`
	// Unknown says what could not be read, and so is not told.
	Unknown []string `json:"unknown,omitempty"`
	// Problems say what is unhealthy.
	Problems []string `json:"problems,omitempty"`
}

// A Claim says which operator serves, or served, the kind of a CRD.
type Claim struct {
	CRD      string `json:"crd"`
	Identity string `json:"identity"`
	Message  string `json:"message"`
}

// Asked is what is to be found out.
type Asked struct {
	// Identity is that of the only installation to look at, NAMESPACE/NAME; ""
	// means all.
	Identity string
	// OperatorNamespace is that of the installations to look at; "" means all.
	OperatorNamespace string
	// Namespace is that of the resources to look at; "" means all.
	Namespace string
	// Fallback is where to look where not everything may be listed.
	Fallback string
	// Folders are those on file, beside those of the operator's ConfigMaps.
	Folders map[string]*folder.Folder
	// Allowed reports whether a user may do something; nil: nobody is asked.
	Allowed Allowed
	// Program is the version of the program that asks.
	Program string
	// Now is the present time.
	Now time.Time
}

var (
	leases      = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	accounts    = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// A look is one look at a cluster.
type look struct {
	*liveview.Survey
	Asked
	*Health
	// claims are the identities of those who claim a CRD, by its name; nil: not known, or
	// not needed.
	claims map[string][]string
	// claimsUnread: CRDs may not be listed, so any report may be forged.
	claimsUnread bool
	// noting is held while something is added to Unknown.
	noting sync.Mutex
	// unread are the states of what could not be read and decides the verdict.
	unread []verdict.State
	// narrowed is how many kinds were looked at in the namespace Fallback only.
	narrowed int
}

// Of looks at a cluster.
func Of(ctx context.Context, s *liveview.Survey, asked Asked) *Health {
	l := &look{Survey: s, Asked: asked, Health: &Health{Version: Format, Installations: []*Installation{}}}
	l.findInstallations(ctx)
	l.dropClaimless(ctx)
	for _, i := range l.Installations {
		l.readLeader(ctx, i)
	}
	// A local operator without a leader has ended, and given all back.
	l.Installations = slices.DeleteFunc(l.Installations, func(i *Installation) bool { return i.Local && i.Leader.State == verdict.NoLeader })
	for _, i := range l.Installations {
		l.takeOver(ctx, i)
		chart := l.findReplicas(ctx, i)
		i.Skew = describeSkew(i.Program, l.Asked.Program, chart)
		l.addKinds(ctx, i)
		l.compileFolders(ctx, i)
		l.findMissingRights(ctx, i)
	}
	l.findForsaken(ctx)
	l.findStarting(ctx)
	l.decideVerdict()
	slices.Sort(l.Unknown)
	l.Unknown = slices.Compact(l.Unknown)
	return l.Health
}

// addUnknown records that something could not be read.
func (l *look) addUnknown(what string, err error) {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.Unknown = append(l.Unknown, fmt.Sprintf("%s: %v", what, err))
}

// noteNarrowed counts a kind that is looked at in the namespace Fallback only.
func (l *look) noteNarrowed() {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.narrowed++
}

// findInstallations finds the installations by the Leases that bear their reports.
func (l *look) findInstallations(ctx context.Context) {
	if l.Identity != "" {
		namespace, _, _ := strings.Cut(l.Identity, "/")
		lease, err := l.Object(ctx, leases, namespace, api.ReportLease(l.Identity))
		if err != nil {
			l.addUnknown("the operator's report", err)
			l.LeasesUnread = err.Error()
		} else if lease != nil {
			l.add(lease)
		}
		return
	}
	in := liveview.Range{Namespace: l.OperatorNamespace, Selector: api.LabelPartOf + "=" + api.PartOf}
	all, err := l.Objects(ctx, leases, in)
	switch {
	case err != nil && l.OperatorNamespace != "":
		l.addUnknown("installations in namespace "+l.OperatorNamespace, err)
		l.LeasesUnread = err.Error()
	case err != nil:
		l.addUnknown("installations outside of namespaces jacquard and "+l.Fallback, err)
		l.LeasesUnread = err.Error()
		for _, in.Namespace = range []string{"jacquard", l.Fallback} {
			if some, err := l.Objects(ctx, leases, in); err == nil {
				all = append(all, some...)
			}
		}
	}
	for _, lease := range all {
		l.add(lease)
	}
}

// findForsaken finds the CRDs that bear the claim of an operator that is not there.
func (l *look) findForsaken(ctx context.Context) {
	if l.Identity != "" {
		return
	}
	all, err := l.Definitions(ctx)
	if err != nil {
		l.addUnknown("kinds of operators that are gone", err)
		return
	}
	for _, crd := range all {
		for _, claim := range shard.Claims(crd) {
			identity := claim.Identity
			if namespace, _, _ := strings.Cut(identity, "/"); l.OperatorNamespace != "" && namespace != l.OperatorNamespace {
				continue
			}
			if slices.ContainsFunc(l.Installations, func(i *Installation) bool { return i.Identity == identity }) {
				continue
			}
			if l.mayHaveReported(ctx, crd.GetName(), identity) || l.addIfStarting(ctx, identity) {
				continue
			}
			c := Claim{CRD: crd.GetName(), Identity: identity,
				Message: fmt.Sprintf("no operator of that name has reported; install it again, or have another one serve the kind: %s, or take what is left of it off: jacquard eject %s", unclaimCommand(claim.Key, crd.GetName()), crd.GetName())}
			if !strings.Contains(identity, "/") {
				c.Message = "no operator of that name has reported, and it may be one of an earlier version outside of the cluster, which does not; if it does not run, another one serves the kind after " + unclaimCommand(claim.Key, crd.GetName())
			}
			l.Forsaken = append(l.Forsaken, c)
		}
	}
}

// unclaimCommand returns the command that takes a claim off CRDs.
func unclaimCommand(key string, crds ...string) string {
	return "kubectl annotate crd " + strings.Join(crds, " ") + " " + key + "-"
}

// takeOver says how another operator comes to serve the kinds of one that does
// not run.
func (l *look) takeOver(ctx context.Context, i *Installation) {
	if !i.Leader.isDead() {
		return
	}
	all, err := l.Definitions(ctx)
	if err != nil {
		l.addUnknown("the kinds that "+i.Identity+" has a claim to", err)
		return
	}
	names := map[string][]string{}
	for _, crd := range all {
		for _, claim := range shard.Claims(crd) {
			if claim.Identity == i.Identity {
				names[claim.Key] = append(names[claim.Key], crd.GetName())
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[key])
		i.TakeOver = append(i.TakeOver, unclaimCommand(key, names[key]...))
	}
}

// mayHaveReported reports whether an operator that was not found has reported all the same, or may
// have because Leases may not be listed.
func (l *look) mayHaveReported(ctx context.Context, crd, identity string) bool {
	namespace, _, both := strings.Cut(identity, "/")
	if !both {
		return l.LeasesUnread != "" // its report may be in any namespace
	}
	lease, err := l.Object(ctx, leases, namespace, api.ReportLease(identity))
	if err != nil {
		l.addUnknown(fmt.Sprintf("%s, which serves %s", identity, crd), err)
		l.unread = append(l.unread, verdict.OperatorUnreadable)
	}
	return lease != nil || err != nil
}
