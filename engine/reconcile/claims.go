package reconcile

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

var storageClassKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}

// classQuery finds the StorageClass of a claim, or all where the default one is meant. The
// operator watches StorageClasses as itself, and only while somebody asks.
func classQuery(claim map[string]any) cluster.Query {
	q := cluster.Query{Scope: cluster.Scope{GroupVersionKind: storageClassKind}, Name: readiness.ClassName(claim)}
	if q.Name == "" {
		q.Selector = labels.Everything()
	}
	return q
}

// StorageClass returns what is known of the StorageClass of a claim.
func (c *Cluster) StorageClass(claim map[string]any) readiness.StorageClass {
	found, err := c.findObjects(classQuery(claim))
	return storageClass(claim, found, err)
}

// storageClass does the same, and the resource is woken when the answer may be another one.
func (w *snapshot) storageClass(claim map[string]any) readiness.StorageClass {
	q := classQuery(claim)
	q.Since = w.since
	found, err := w.askCache(q)
	w.pending = w.pending || errors.Is(err, live.ErrNotYet)
	return storageClass(claim, found, err)
}

func storageClass(claim map[string]any, found []live.Object, err error) readiness.StorageClass {
	name := readiness.ClassName(claim)
	if err != nil {
		return readiness.StorageClass{Name: name, Unknown: missingRule(err)}
	}
	all := make([]map[string]any, len(found))
	for i, l := range found {
		all[i] = bodyOf(l)
	}
	return readiness.SelectClass(name, all)
}

// missingRule returns the rule whose lack an error reports, and of other errors the text:
// a message has no room for both.
func missingRule(err error) string {
	var rule *live.RuleError
	var refusal *refusals.Refusal
	switch {
	case errors.As(err, &rule):
		return rule.Missing()
	case errors.As(err, &refusal) && refusal.Rule != "":
		return "the missing rule, in " + refusal.Rule
	}
	return err.Error()
}

// consumerOf names the child that runs Pods now which mount a claim; "" is none. What the
// Pods mount is taken from the plan: of live workloads their template may not be kept.
func (w *snapshot) consumerOf(claim map[string]any, p *plan.Plan) string {
	if p == nil {
		return ""
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Child.Policy.Patch || !readiness.Mounts(s.Document.Object, claim) {
			continue
		}
		if l := w.liveOf(s.Child); l != nil && readiness.RunsPods(bodyOf(*l)) {
			return describeObject(s.Document)
		}
	}
	return ""
}

func describeObject(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }
