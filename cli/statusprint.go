//go:build !operator

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// The first few resources of a kind that are not ready, and the first few operators without
// a claim, are named unless all are asked for.
const (
	fewResources = 5
	fewClaimless = 5
)

// A healthPrinter writes a Health; now is what ages are as of.
type healthPrinter struct {
	io.Writer
	now time.Time
	all bool
}

// printHealth writes a Health as text; ages are as of now. All resources that are not
// ready are named, or the first few of each kind.
func printHealth(w io.Writer, h *health.Health, now time.Time, all bool) {
	p := &healthPrinter{w, now, all}
	for n, i := range h.Installations {
		if n > 0 {
			fmt.Fprintln(p)
		}
		p.printInstallation(i)
	}
	p.list("hold no claim on a CRD, so their reports decide nothing; --installation shows one of them", p.limitClaimless(h.Claimless))
	p.list("claimed by operators that are not there", claimTexts(h.Forsaken))
	unknown := "not known"
	if h.State == verdict.Healthy { // the verdict does not depend on it
		unknown = "not checked"
	}
	p.list(unknown, h.Unknown)
	p.list("wrong", h.Problems)
	fmt.Fprintf(p, "\n%s\n", h.Headline)
}

func claimTexts(all []health.Claim) []string {
	var texts []string
	for _, c := range all {
		texts = append(texts, fmt.Sprintf("%s by %s: %s", c.CRD, c.Identity, c.Message))
	}
	return texts
}

// limitClaimless keeps the first few operators without a claim, since anyone who may write
// Leases in a namespace can add to them.
func (p *healthPrinter) limitClaimless(all []string) []string {
	if p.all || len(all) <= fewClaimless {
		return all
	}
	return append(slices.Clone(all[:fewClaimless]), fmt.Sprintf("… and %d more: --all", len(all)-fewClaimless))
}

// list writes texts below a title, if there are any.
func (p *healthPrinter) list(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s:\n", title)
	for _, text := range texts {
		fmt.Fprintf(p, "  %s\n", strings.ReplaceAll(text, "\n", "\n    "))
	}
}

// printInstallation writes an installation and its kinds.
func (p *healthPrinter) printInstallation(i *health.Installation) {
	fmt.Fprintf(p, "%s  %s\n", i.Identity, strings.TrimSpace(i.Program))
	fmt.Fprintf(p, "  %s\n", p.formatLeader(i))
	if i.Replicas != nil {
		fmt.Fprintf(p, "  replicas: %d of %d ready (Deployment %s)\n", i.Replicas.Ready, i.Replicas.Wanted, i.Replicas.Deployment)
	}
	for _, m := range i.Members {
		fmt.Fprintf(p, "    %s\n", m.Text())
	}
	if i.ReadOnly {
		fmt.Fprintln(p, "  READ-ONLY: nothing is written")
	}
	if len(i.Namespaces) > 0 {
		fmt.Fprintf(p, "  serves namespaces %s only\n", strings.Join(i.Namespaces, ", "))
	}
	if i.Selector != "" {
		fmt.Fprintf(p, "  serves resources with %s only\n", i.Selector)
	}
	if i.Local {
		fmt.Fprintln(p, "  runs outside of the cluster")
	}
	fmt.Fprintln(p)
	p.printKinds(i.Kinds)
	if i.Cut > 0 {
		fmt.Fprintf(p, "  … and %s that the report has no place for\n", formatPlural(i.Cut, "kind"))
	}
	p.list("it does not run; to have another operator serve its kinds", i.TakeOver)
	p.list("versions that do not fit", i.Skew)
	p.list("rights that "+i.Account+" lacks", i.Lacks)
}

// formatLeader returns a line about the leader of an installation.
func (p *healthPrinter) formatLeader(i *health.Installation) string {
	age := func(t time.Time) string { return duration.HumanDuration(p.now.Sub(t)) }
	switch i.Leader.State {
	case verdict.Leading:
		if i.Leader.Since.IsZero() {
			return "leader: " + i.Leader.Holder
		}
		return fmt.Sprintf("leader: %s, for %s", i.Leader.Holder, age(i.Leader.Since))
	case verdict.Uninstalled:
		return "leader: none, no operator runs: it was uninstalled"
	case verdict.LeaseOverdue:
		return fmt.Sprintf("leader: %s, which has not renewed the Lease for %s", i.Leader.Holder, age(i.Leader.Renewed))
	case verdict.LeaseExpired:
		return fmt.Sprintf("leader: none, %s has not renewed the Lease for %s", i.Leader.Holder, age(i.Leader.Renewed))
	case verdict.NoLeader:
		return "leader: none, no operator runs"
	case verdict.LeaderUnknown:
		if !i.Elects() {
			return fmt.Sprintf("runs without leader election: %s, for %s", i.Pod, age(i.Since))
		}
	}
	return "leader: not known"
}

// printKinds writes a table of kinds, and below each its details.
func (p *healthPrinter) printKinds(all []*health.Kind) {
	rows := [][]string{{"KIND", "STATE", "VERSION", "RESOURCES", "FOLDER"}}
	for _, k := range all {
		_, version, _ := strings.Cut(k.Served, "/")
		rows = append(rows, []string{k.Name, string(k.State), dashIfEmpty(version), countsText(k.Resources), dashIfEmpty(k.Folder)})
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for n, row := range rows {
		line := "  "
		if n > 0 {
			line = marks[all[n-1].Verdict]
		}
		for i, cell := range row {
			line += cell + strings.Repeat(" ", width[i]-len([]rune(cell))+2)
		}
		fmt.Fprintln(p, strings.TrimRight(line, " "))
		if n > 0 {
			p.printDetails(all[n-1])
		}
	}
}

// marks are what stands before a kind.
var marks = map[verdict.Verdict]string{verdict.Healthy: "✓ ", verdict.Unhealthy: "✗ ", verdict.Unknown: "? "}

// printDetails writes the lines below a kind.
func (p *healthPrinter) printDetails(k *health.Kind) {
	if k.Message != "" {
		fmt.Fprintf(p, "    %s\n", strings.ReplaceAll(k.Message, "\n", "\n    "))
	}
	for _, text := range k.Unlisted {
		fmt.Fprintf(p, "    %s\n", text)
	}
	for _, other := range k.Unused {
		fmt.Fprintf(p, "    not used: %s\n", other)
	}
	for _, field := range k.Ignored {
		fmt.Fprintf(p, "    %s\n", field)
	}
	if k.Pending > 0 {
		fmt.Fprintf(p, "    %s would be changed\n", formatPlural(k.Pending, "resource"))
	}
	if k.Orphans > 0 {
		fmt.Fprintf(p, "    children whose resource is gone: %d; jacquard sweep %s lists them\n", k.Orphans, k.Name)
	}
	for _, r := range k.Retired {
		says := "something may be left of it"
		if r.MayGo {
			says = "nothing is left of it, so the entry may go"
		}
		fmt.Fprintf(p, "    retired %s: %s\n", r.Entry, says)
	}
	for _, entry := range k.Dropped {
		fmt.Fprintf(p,
			"    on record, and neither made nor retired: to keep the rights until it is gone, write in kind.yaml, under retired: - %s\n", entry)
	}
	if len(k.FolderManagers) > 0 {
		fmt.Fprintf(p, "    several managers write the data of its ConfigMap: %s; a file that one of them leaves out stays while another manages it\n",
			strings.Join(k.FolderManagers, ", "))
	}
	for n, r := range k.NotReady {
		if n == fewResources && !p.all {
			fmt.Fprintf(p, "    … and %d more: --all\n", len(k.NotReady)-fewResources)
			return
		}
		fmt.Fprintf(p, "    ✗ %s  %s: %s\n", strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"), r.Reason, r.Message)
		for _, text := range r.Pods {
			fmt.Fprintf(p, "      its Pods: %s\n", text)
		}
	}
}

// dashIfEmpty returns a text, or a dash in place of an empty one.
func dashIfEmpty(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// countsText says how many resources there are, and how they are.
func countsText(c *health.Counts) string {
	if c == nil {
		return "-"
	}
	var parts []string
	for _, one := range []struct {
		n    int
		what string
	}{{c.Ready, "ready"}, {c.Reconciling, "reconciling"}, {c.Stalled, "stalled"}, {c.Paused, "paused"}, {c.Deleting, "deleting"},
		{c.Unserved, "not served yet"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprint(c.Total)
	}
	return fmt.Sprintf("%d: %s", c.Total, strings.Join(parts, ", "))
}
