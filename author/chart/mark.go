package chart

import (
	"regexp"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

var (
	metadataLine  = regexp.MustCompile(`(?m)^metadata:[ \t]*\n`)
	notesLine     = regexp.MustCompile(`(?m)^  annotations:[ \t]*\n`)
	guardedLine   = regexp.MustCompile(`(?m)^([ \t]*\{\{-? *(?:with|if) [^\n]*\}\}[ \t]*\n)(  annotations:[ \t]*\n)`)
	namespaceLine = regexp.MustCompile(`(?m)^  namespace:[ \t]*([^\n]*?)[ \t]*$`)
)

// markDocument adds to a document what the engine must know: what happens to data when it is
// deleted, and what kind.yaml declares.
func (r *rewriter) markDocument(d *document) {
	if r.left || d.kind == "" || r.isGone(d.from+len("---")) && len(r.findDocuments()) > 1 {
		return
	}
	gk := d.groupVersionKind().GroupKind()
	for _, gvk := range append(d.all, d.groupVersionKind()) {
		if gvk.Version == "" || gvk.Kind == "" || !r.clusterScoped(gvk.GroupKind()) {
			continue
		}
		r.declared = append(r.declared, declared{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind})
		r.source.noteAt(r.kindAt(d), "a cluster-scoped "+gvk.Kind,
			"declared in kind.yaml. Its name must hold .metadata.namespace, as two resources of one name in two namespaces would else want the same one")
	}
	if !r.clusterScoped(gk) {
		r.declareNamespace(d)
	}
	if kind.HoldsData(gk) && !policyLine.MatchString(r.textOf(d.span)) {
		r.markPrecious(d)
	}
}

func (r *rewriter) kindAt(d *document) int {
	if m := kindLine.FindStringIndex(r.textOf(d.span)); m != nil {
		return d.from + m[0]
	}
	return d.from
}

// clusterScoped reports whether a kind lives in no namespace, by Kubernetes or
// the chart's own CRDs.
func (v *conversion) clusterScoped(gk apischema.GroupKind) bool {
	if schema.ClusterScoped(gk) || gk.Group == "cert-manager.io" && gk.Kind == "ClusterIssuer" || gk.Group == "security.openshift.io" {
		return true
	}
	for _, data := range v.crds {
		for part := range strings.SplitSeq("\n"+string(data), "\n---") {
			var crd struct {
				Spec struct {
					Group, Scope string
					Names        struct{ Kind string }
				}
			}
			if yaml.Unmarshal([]byte(part), &crd) == nil && crd.Spec.Group == gk.Group && crd.Spec.Names.Kind == gk.Kind {
				return crd.Spec.Scope == "Cluster"
			}
		}
	}
	return false
}

// declareNamespace declares the namespace of a document, if it is not that of its resource.
func (r *rewriter) declareNamespace(d *document) {
	m := namespaceLine.FindStringSubmatchIndex(r.textOf(d.span))
	if m == nil {
		return
	}
	text, off := r.textOf(span{d.from + m[2], d.from + m[3]}), d.from+m[2]
	switch bare := bareText.FindStringSubmatch(text); {
	case bare != nil:
		r.declared = append(r.declared, declared{APIVersion: d.apiVersion, Kind: d.kind, Namespaces: []string{bare[1]}})
		r.source.noteAt(off, d.kind+" in the namespace "+bare[1], "declared in kind.yaml: see that this is meant")
	case !strings.Contains(text, ".Release.Namespace") && !strings.Contains(text, "include "):
		r.source.noteAt(off, d.kind+" in a computed namespace", "only that of the resource is allowed: list others under children in kind.yaml")
	}
}

// markPrecious adds what happens to an object that holds data, as Helm would have it.
func (r *rewriter) markPrecious(d *document) {
	const text = "    jacquard.dev/on-delete: delete\n"
	body := r.textOf(d.span)
	r.source.noteAt(r.kindAt(d), d.kind+", which Helm would delete",
		"it is deleted with the resource, and not before: write jacquard.dev/on-delete: keep if it is to stay")
	if m := guardedLine.FindStringSubmatchIndex(body); m != nil {
		r.replaceSpan(span{d.from + m[0], d.from + m[0]}, body[m[4]:m[5]]+text)
		r.delete(span{d.from + m[4], d.from + m[5]})
		return
	}
	if m := notesLine.FindStringIndex(body); m != nil {
		r.replaceSpan(span{d.from + m[1], d.from + m[1]}, text)
		return
	}
	if m := metadataLine.FindStringIndex(body); m != nil {
		r.replaceSpan(span{d.from + m[1], d.from + m[1]}, "  annotations:\n"+text)
	}
}

// leaveParts notes what a chart has beside its templates.
func (v *conversion) leaveParts() {
	for _, name := range sortedKeys(v.crds) {
		v.addNote(Note{File: name, What: "a CRD of others", Do: "copied to schemas/, for the offline tools: apply it before the first resource"})
	}
	for _, d := range v.dependencies {
		what := "the subchart " + d.Name
		do := "left out: make a kind of it, and a child of that kind or a resource beside this one"
		if path := strings.Split(d.Condition, ","); d.Condition != "" {
			first := strings.TrimSpace(path[0])
			v.fixed[first] = true
			do += "; " + first + " is refused if it is true"
		}
		if !v.hasPartials(d) {
			v.addNote(Note{File: "Chart.yaml", What: what, Do: do})
		}
	}
}

// hasPartials reports whether a subchart contributed partials, and so was carried over.
func (v *conversion) hasPartials(d dependency) bool {
	for _, s := range v.sources {
		if s.library && strings.HasPrefix(s.name, "charts/"+d.Name+"/") && d.Condition == "" {
			return true
		}
	}
	return false
}
