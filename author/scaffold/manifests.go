package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A making is a kind that is made of manifests.
type making struct {
	names Names
	draft *Draft
	// stem is the name of the resource that makes what the manifests say; home
	// is its namespace, "" where none is said.
	stem, home string
	all        []*manifest
	// secrets are the names of Secrets, which are left out.
	secrets []string
	spec    *field
	tokens  tokens
	// refs are the actions that give the names of objects, by Kind/name.
	refs map[string]string
	// ports are the actions that give the port of a workload, by the manifest
	// and number.
	ports map[*manifest]map[int64]string
	// fronts are the actions that give the ports of Services.
	fronts map[fronted]string
	// backends are where manifests say the ports of Services.
	backends []backend
}

// FromManifests makes a kind whose resources make what the manifests say. What
// varies is lifted into the spec, with what the manifests say as defaults, and
// names are derived from the resource's. The example makes the very same
// objects again, but for the names of those that live in no namespace, and its
// golden case says so. Secrets are never copied: the
// spec names one that is there. The error is about manifests that cannot
// become templates, with file:line.
func FromManifests(n Names, sources []Source) (*Draft, error) {
	all, err := readAll(sources)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	w := &making{names: n, draft: NewDraft(n.Name()), all: all, spec: &field{name: "spec", note: "What is wanted."}}
	w.refs, w.ports = map[string]string{}, map[*manifest]map[int64]string{}
	w.fronts = map[fronted]string{}
	w.tokens.init(sources)
	if err := w.siftManifests(); err != nil {
		return nil, err
	}
	w.home = w.mostCommon((*manifest).namespaceText)
	w.leaveOut()
	if len(w.all) == 0 {
		return nil, errors.New("reading manifests: there is no object that a resource could make")
	}
	w.stem = findStem(w.all)
	w.nameFiles()
	w.relateManifests()
	w.separateNames()
	if err := w.prepareManifests(); err != nil {
		return nil, err
	}
	w.nameObjects()
	w.referToObjects()
	w.liftValues()
	return w.draft, w.write()
}

// siftManifests tidies the manifests and takes out those that others make.
func (w *making) siftManifests() error {
	there := map[string]string{}
	var errs []error
	for _, m := range w.all {
		key := strings.Join([]string{m.gvk.GroupKind().String(), m.namespaceText(), m.name, m.subresource}, "/")
		if first := there[key]; first != "" {
			errs = append(errs, fmt.Errorf("%s: it is at %s already: remove one of them", m, first))
		}
		there[key] = m.place
	}
	w.all = slices.DeleteFunc(w.all, func(m *manifest) bool {
		for _, owner := range listItems(m.node, "metadata", "ownerReferences") {
			for _, other := range w.all {
				if textAt(owner, "controller") == "true" && other.gvk.Kind == textAt(owner, "kind") && other.name == textAt(owner, "name") {
					return true
				}
			}
		}
		return ofCluster(m)
	})
	for _, m := range w.all {
		m.dropForeign()
	}
	return errors.Join(errs...)
}

// ofCluster reports whether every namespace has such an object by itself.
func ofCluster(m *manifest) bool {
	return m.gvk.Group == "" && (m.gvk.Kind == "ConfigMap" && m.name == "kube-root-ca.crt" ||
		m.gvk.Kind == "ServiceAccount" && m.name == "default" ||
		m.gvk.Kind == "Service" && m.name == "kubernetes" && m.namespaceText() == "default" || m.gvk.Kind == "Event") ||
		m.gvk.Group == "events.k8s.io"
}

// mostCommon returns the most common text among the manifests of namespaced kinds, apart from "".
func (w *making) mostCommon(what func(*manifest) string) string {
	counts := map[string]int{}
	for _, m := range w.all {
		if said := what(m); said != "" && !schema.ClusterScoped(m.gvk.GroupKind()) {
			counts[said]++
		}
	}
	best := ""
	for _, said := range slices.Sorted(maps.Keys(counts)) {
		if counts[said] > counts[best] {
			best = said
		}
	}
	return best
}

// leaveOut takes out what no template may hold, or no resource should make.
func (w *making) leaveOut() {
	w.all = slices.DeleteFunc(w.all, func(m *manifest) bool {
		core := m.gvk.Group == ""
		switch {
		case m.isToken():
			w.draft.Note(fmt.Sprintf("%s: it is left out: it is the token of a ServiceAccount, which the cluster makes", m))
			return true
		case core && m.gvk.Kind == "Secret" && (findNode(m.node, "data") != nil || findNode(m.node, "stringData") != nil):
			w.secrets = append(w.secrets, m.name)
			w.draft.Note(fmt.Sprintf("%s: its data are in no template: the Secret must be there, and the spec names it where it is read. "+
				"What may be drawn by chance, such as a password, is better made by `stable`", m))
			return true
		case core && m.gvk.Kind == "Namespace" && m.name == w.home:
			w.draft.Note(fmt.Sprintf("%s: it is left out: a resource makes things in its own namespace, which must be there before", m))
			return true
		case m.gvk.Group == "apiextensions.k8s.io":
			w.draft.Note(fmt.Sprintf("%s: it is left out: install it before, and put it into schemas/ for the tools", m))
			return true
		}
		return false
	})
}

// prepareManifests makes the deliberate changes. After it the manifests are what is to be rendered
// again.
func (w *making) prepareManifests() error {
	for _, m := range w.all {
		w.annotateManifest(m)
		if ns := m.namespaceText(); ns == w.home || m.patch && ns == "" {
			dropKey(m.node, "metadata", "namespace")
		}
		w.hideSecrets(m)
		said, err := decodeNode(m.node)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		m.said = said.(map[string]any)
		if textAt(m.node, "metadata", "namespace") == "" && !schema.ClusterScoped(m.gvk.GroupKind()) {
			m.said["metadata"].(map[string]any)["namespace"] = cmp.Or(w.home, "default")
		}
	}
	return nil
}

// annotateManifest adds the annotations without which a manifest is no template.
func (w *making) annotateManifest(m *manifest) {
	annotate := func(key, v string) { putText(m.node, v, "metadata", "annotations", key) }
	if m.patch {
		annotate(api.AnnotationOwnership, "patch")
		if m.subresource != "" {
			annotate(api.AnnotationSubresource, m.subresource)
		}
		return
	}
	precious := m.gvk.Group == "" && (m.gvk.Kind == "PersistentVolumeClaim" || m.gvk.Kind == "Namespace")
	if precious && textAt(m.node, "metadata", "annotations", api.AnnotationOnDelete) == "" {
		annotate(api.AnnotationOnDelete, "keep")
		w.draft.Note(fmt.Sprintf("%s: it is kept when the resource goes: write `%s: delete` if its data may go too", m, api.AnnotationOnDelete))
	}
	if m.gvk.Kind == "Job" && findNode(m.node, "spec", "ttlSecondsAfterFinished") != nil { // else it would run again once it is gone
		annotate(api.AnnotationRunOnce, "true")
	}
	if w.isAutoscaled(m) && findNode(m.node, "spec", "replicas") != nil {
		annotate(api.AnnotationInitialFields, "spec.replicas")
	}
}

// isAutoscaled reports whether an autoscaler among the manifests sets the replicas.
func (w *making) isAutoscaled(m *manifest) bool {
	return slices.ContainsFunc(w.all, func(other *manifest) bool {
		target := findNode(other.node, "spec", "scaleTargetRef")
		return target != nil && textAt(target, "kind") == m.gvk.Kind && textAt(target, "name") == m.name
	})
}
