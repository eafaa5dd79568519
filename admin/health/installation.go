package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// An Installation is one operator, or several replicas of it.
type Installation struct {
	Identity  string `json:"identity"`
	Namespace string `json:"namespace"`
	// Program, Pod, Since, ReadOnly, Namespaces and Selector are what the
	// operator that leads, or did last, reported.
	Program    string    `json:"operatorVersion,omitempty"`
	Pod        string    `json:"pod,omitempty"`
	Account    string    `json:"account,omitempty"`
	Since      time.Time `json:"since"`
	ReadOnly   bool      `json:"readOnly,omitempty"`
	Namespaces []string  `json:"namespaces,omitempty"`
	Selector   string    `json:"selector,omitempty"`
	// Local: it runs, or ran, outside of the cluster. Groups are those of its account.
	Local    bool      `json:"local,omitempty"`
	Groups   []string  `json:"groups,omitempty"`
	Leader   Leader    `json:"leader"`
	Replicas *Replicas `json:"replicas,omitempty"`
	// Members are the replicas that divide the resources; nil if one serves all.
	Members []*Member `json:"members,omitempty"`
	Kinds   []*Kind   `json:"kinds"`
	// MissingRoots are the roots that the operator cannot read, and why.
	MissingRoots []string `json:"missingRoots,omitempty"`
	// Cut is how many kinds the report had no place for.
	Cut int `json:"omittedKinds,omitempty"`
	// TakeOver has another operator serve the kinds of one that does not run.
	TakeOver []string `json:"takeOverCommands,omitempty"`
	// Lacks are the rights that the operator needs and does not have.
	Lacks []string `json:"missingPermissions,omitempty"`
	// Skew are versions that do not fit.
	Skew []string `json:"versionSkew,omitempty"`
	// Trouble says why the report cannot be read.
	Trouble string `json:"error,omitempty"`

	report   *heartbeat.Report
	division replicas.Division
	// unread is why there may be folders that are not known.
	unread error
}

// A Leader is who holds the leader's Lease.
type Leader struct {
	State verdict.State `json:"state"`
	// Holder, Since and Renewed are those of the Lease. Since is zero if it is not known.
	Holder  string    `json:"holder,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Renewed time.Time `json:"renewed,omitzero"`
}

// isDead reports whether nobody serves the kinds of the installation.
func (l Leader) isDead() bool { return l.State.Verdict() == verdict.Unhealthy }

// Replicas are those of the operator's Deployment.
type Replicas struct {
	Deployment string `json:"deployment"`
	Wanted     int64  `json:"desired"`
	Ready      int64  `json:"ready"`
}

// add takes up a Lease that bears a report.
func (l *look) add(lease *unstructured.Unstructured) {
	text, found := lease.GetAnnotations()[api.AnnotationReport]
	if !found {
		return
	}
	// The identity for which --installation reads this Lease, whatever the report contains.
	i := &Installation{Namespace: lease.GetNamespace(), Identity: lease.GetNamespace() + "/" + strings.TrimSuffix(lease.GetName(), "-report"),
		Leader: Leader{State: verdict.LeaderUnknown}, Kinds: []*Kind{}}
	l.Installations = append(l.Installations, i)
	r, err := heartbeat.Read(text)
	if err != nil {
		i.Trouble = err.Error()
		return
	}
	if namespace, _, both := strings.Cut(r.Identity, "/"); both && namespace != i.Namespace || lease.GetName() != api.ReportLease(r.Identity) {
		i.Trouble = fmt.Sprintf("the report in this Lease is not its own: it says that it is of %q", r.Identity)
		return
	}
	i.report, i.Identity, i.Program, i.Pod, i.Account = r, r.Identity, r.Program, r.Pod, r.Account
	i.Since, i.ReadOnly, i.Namespaces, i.Selector, i.Cut = r.Since, r.ReadOnly, r.Namespaces, r.Selector, r.Cut
	i.Local, i.Groups, i.MissingRoots = r.Local, r.Groups, r.MissingRoots
}

// grace is how far clocks may differ.
const grace = 30 * time.Second

// readLeader reads the leader's Lease.
func (l *look) readLeader(ctx context.Context, i *Installation) {
	if i.report == nil || i.report.Lease == "" {
		return
	}
	lease, err := l.Object(ctx, leases, i.report.LeaseNamespace, i.report.Lease)
	if err != nil {
		l.addUnknown("who leads "+i.Identity, err)
		return
	}
	if i.Leader = l.read(lease); lease != nil {
		l.readMembers(ctx, i, lease)
	}
	if !i.Leader.isDead() && i.Leader.State != verdict.LeaderUnknown && l.isUninstalled(ctx, i) {
		i.Leader.State = verdict.Uninstalled
	}
}

// isUninstalled reports whether the service account that the operator runs as is gone.
func (l *look) isUninstalled(ctx context.Context, i *Installation) bool {
	name, is := strings.CutPrefix(i.Account, "system:serviceaccount:"+i.Namespace+":")
	if !is {
		return false
	}
	account, err := l.Object(ctx, accounts, i.Namespace, name)
	return err == nil && account == nil
}

// read reads who holds a Lease; nil is none.
func (l *look) read(lease *unstructured.Unstructured) Leader {
	h := Leader{State: verdict.NoLeader}
	if lease == nil {
		return h
	}
	text := func(field string) string {
		s, _, _ := unstructured.NestedString(lease.Object, "spec", field)
		return s
	}
	duration, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	h.Holder = text("holderIdentity")
	h.Since, _ = time.Parse(time.RFC3339, text("acquireTime"))
	h.Renewed, _ = time.Parse(time.RFC3339, text("renewTime"))
	lasts := time.Duration(duration) * time.Second
	switch age := l.Now.Sub(h.Renewed); {
	case h.Holder == "":
	case age > lasts+grace:
		h.State = verdict.LeaseExpired
	case age > lasts:
		h.State = verdict.LeaseOverdue
	default:
		h.State = verdict.Leading
	}
	return h
}

// findReplicas finds the Deployment whose Pods run as the operator's account, and returns the
// version of the operator that its chart is for.
func (l *look) findReplicas(ctx context.Context, i *Installation) (chart string) {
	all, err := l.Objects(ctx, deployments, liveview.Range{Namespace: i.Namespace})
	if err != nil {
		l.addUnknown("the replicas of "+i.Identity, err)
		return ""
	}
	for _, d := range all {
		account, _, _ := unstructured.NestedString(d.Object, "spec", "template", "spec", "serviceAccountName")
		if account == "" || i.Account != fmt.Sprintf("system:serviceaccount:%s:%s", i.Namespace, account) {
			continue
		}
		wanted, _, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
		ready, _, _ := unstructured.NestedInt64(d.Object, "status", "readyReplicas")
		i.Replicas = &Replicas{Deployment: d.GetName(), Wanted: wanted, Ready: ready}
		chart = d.GetLabels()["app.kubernetes.io/version"]
	}
	return chart
}

// listFindings returns what is unhealthy or unknown, of an installation.
func (i *Installation) listFindings() findings {
	var all findings
	switch i.Leader.State {
	case verdict.NoLeader:
		all.add(i.Leader.State, "no operator runs")
	case verdict.Uninstalled:
		all.add(i.Leader.State, "no operator runs: its account %s is gone, and its Lease is not given back", i.Account)
	case verdict.LeaseExpired:
		all.add(i.Leader.State, "the Lease of the leader is not renewed, since %s: no operator runs", i.Leader.Renewed.Format(time.RFC3339))
	case verdict.LeaseOverdue:
		all.add(i.Leader.State, "the Lease of the leader is not renewed, since %s: it is not known whether it runs", i.Leader.Renewed.Format(time.RFC3339))
	case verdict.LeaderUnknown:
		if i.Trouble == "" {
			all.add(i.Leader.State, "it is not known whether it runs")
		}
	}
	if i.Trouble != "" {
		all.add(verdict.OperatorUnreadable, "%s", i.Trouble)
	}
	i.addDivisionFindings(&all)
	if i.Replicas != nil && i.Replicas.Ready < i.Replicas.Wanted {
		all.add(verdict.ReplicasNotReady, "%d of %d replicas of Deployment %s are ready",
			i.Replicas.Ready, i.Replicas.Wanted, i.Replicas.Deployment)
	}
	for _, root := range i.MissingRoots {
		all.add(verdict.RootMissing, "a root cannot be read, so its kinds are served as before: %s", root)
	}
	for _, k := range i.Kinds {
		k.addFindings(&all, i.Leader.isDead())
	}
	if len(i.Lacks) > 0 {
		all.add(verdict.PermissionsMissing, "the operator lacks %s", formatCount(len(i.Lacks), "right"))
	}
	return all
}

// formatCount formats a count of things: 1 resource, 2 resources.
func formatCount(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
