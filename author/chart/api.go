package chart

import (
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// splitAPI parts the apiVersion from the kind in "policy/v1/PodDisruptionBudget".
func splitAPI(text string) (apiVersion, kind string) {
	parts := strings.Split(text, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && last != "" && last[0] >= 'A' && last[0] <= 'Z' {
		return strings.Join(parts[:len(parts)-1], "/"), last
	}
	return text, ""
}

// every are the groups and versions that every cluster serves.
var every = []string{
	"v1", "apps/v1", "batch/v1", "autoscaling/v1", "autoscaling/v2", "policy/v1", "networking.k8s.io/v1",
	"rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1",
	"admissionregistration.k8s.io/v1", "scheduling.k8s.io/v1", "coordination.k8s.io/v1", "discovery.k8s.io/v1",
}

// isStanding reports whether every cluster serves a group and version.
func isStanding(gv apischema.GroupVersion) bool { return slices.Contains(every, gv.String()) }

// isOutlived reports whether no cluster serves a group and version any more. That is an earlier
// version of a group that every cluster serves.
func isOutlived(gv apischema.GroupVersion) bool {
	if gv.Group == "extensions" {
		return true
	}
	return !isStanding(gv) && strings.Contains(gv.Version, "beta") && slices.ContainsFunc(every, func(e string) bool {
		newer, _ := apischema.ParseGroupVersion(e)
		return newer.Group == gv.Group && gv.Group != ""
	})
}

// usual are kinds of APIs that many charts ask for, where the chart itself
// does not say which kind it means.
var usual = map[string]string{
	"monitoring.coreos.com/v1": "ServiceMonitor", "cert-manager.io/v1": "Certificate",
	"route.openshift.io/v1": "Route", "security.openshift.io/v1": "SecurityContextConstraints",
	"autoscaling.k8s.io/v1": "VerticalPodAutoscaler", "gateway.networking.k8s.io/v1": "HTTPRoute",
}

// has makes .Capabilities.APIVersions.Has what asks for a kind.
func (r *rewriter) has(cmd *parse.CommandNode) (string, bool) {
	text, ok := cmd.Args[1].(*parse.StringNode)
	if !ok {
		return "", false
	}
	if known, ok := r.isServed(text); ok {
		return known, true
	}
	apiVersion, kind := splitAPI(text.Text)
	if kind == "" {
		kind = r.kindOf(apiVersion)
	}
	if kind == "" {
		return "", false
	}
	if _, said := splitAPI(text.Text); said == "" {
		r.source.noteAt(r.start(cmd.Args[0]), r.textOf(r.commandSpan(cmd)), "asks for the kind "+kind+" of it, since a template asks for kinds")
	}
	return `hasAPI "` + apiVersion + `" "` + kind + `"`, true
}

// kindOf is the kind of an apiVersion that this file makes, or else another
// file of the chart, or that charts usually mean.
func (r *rewriter) kindOf(apiVersion string) string {
	for _, s := range append([]*source{r.source}, r.sources...) {
		for _, d := range s.findDocuments() {
			for _, gvk := range d.all {
				if gvk.GroupVersion().String() == apiVersion {
					return gvk.Kind
				}
			}
		}
	}
	return usual[apiVersion]
}

var apiVersionText = regexp.MustCompile(`^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*/)?v\d+(?:(?:alpha|beta)\d+)?$`)

// apiVersionOf is the newest apiVersion that a define prints, if it prints
// nothing else.
func (v *conversion) apiVersionOf(name *parse.StringNode, literal bool) (string, bool) {
	if !literal || v.defines[name.Text] == nil {
		return "", false
	}
	found, only := v.printedVersions(v.defines[name.Text].tree.Root, 0)
	if !only || len(found) == 0 {
		return "", false
	}
	return newestVersion(found, ""), true
}

// printedVersions returns the apiVersions that a list prints. only is true if it prints nothing
// else.
func (v *conversion) printedVersions(list *parse.ListNode, depth int) (found []string, only bool) {
	if list == nil || depth > 8 {
		return nil, depth <= 8
	}
	only = true
	add := func(more []string, sure bool) { found, only = append(found, more...), only && sure }
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			if text := strings.TrimSpace(string(n.Text)); text != "" {
				add([]string{text}, apiVersionText.MatchString(text))
			}
		case *parse.IfNode:
			add(v.printedVersions(n.List, depth+1))
			add(v.printedVersions(n.ElseList, depth+1))
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				add(v.printedBy(n.Pipe, depth))
			}
		case *parse.TemplateNode:
			if d := v.defines[n.Name]; d != nil {
				add(v.printedVersions(d.tree.Root, depth+1))
			}
		case *parse.CommentNode:
		default:
			only = false
		}
	}
	return found, only
}

// printedBy are the apiVersions that an action prints.
func (v *conversion) printedBy(p *parse.PipeNode, depth int) (found []string, only bool) {
	args := p.Cmds[0].Args
	last, ok := args[len(args)-1].(*parse.StringNode)
	fn, call := args[0].(*parse.IdentifierNode)
	switch {
	case len(p.Cmds) == 1 && ok && (len(args) == 1 || call && fn.Ident == "print"):
		return []string{last.Text}, apiVersionText.MatchString(last.Text)
	case len(p.Cmds) == 1 && call && fn.Ident == "include" && len(args) == 3:
		if name, ok := args[1].(*parse.StringNode); ok && v.defines[name.Text] != nil {
			return v.printedVersions(v.defines[name.Text].tree.Root, depth+1)
		}
	}
	// What the values override is not followed.
	paths, _ := valuesIn(p)
	return nil, len(paths) > 0
}

// newestVersion returns the newest apiVersion. It prefers those that are known to have the kind.
func newestVersion(all []string, kind string) string {
	best := ""
	for _, text := range all {
		if best == "" || isNewer(text, best, kind) {
			best = text
		}
	}
	return best
}

// isNewer reports whether apiVersion a is newer than b, or has the kind if only one of them has it.
func isNewer(a, b, kind string) bool {
	x, _ := apischema.ParseGroupVersion(a)
	y, _ := apischema.ParseGroupVersion(b)
	if kind != "" && schema.BuiltIn(x.WithKind(kind)) != schema.BuiltIn(y.WithKind(kind)) {
		return schema.BuiltIn(x.WithKind(kind))
	}
	if x.Group != y.Group && isOutlived(x) != isOutlived(y) {
		return isOutlived(y)
	}
	return apiversion.CompareKubeAwareVersionStrings(x.Version, y.Version) > 0
}
