package observe

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

// StorageClassKind is the kind of StorageClasses.
var StorageClassKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"}

// classQuery finds the StorageClass of a claim, or all where the default one is meant. The
// operator watches StorageClasses as itself, and only while somebody asks.
func classQuery(claim map[string]any) cluster.Query {
	q := cluster.Query{Scope: cluster.Scope{GroupVersionKind: StorageClassKind}, Name: readiness.ClassName(claim)}
	if q.Name == "" {
		q.Selector = labels.Everything()
	}
	return q
}

// StorageClass returns what is known of the StorageClass of a claim.
func (c *Caches) StorageClass(claim map[string]any) readiness.StorageClass {
	found, err := c.findObjects(classQuery(claim))
	return storageClass(claim, found, err)
}

// StorageClass does the same, and the resource is woken when the answer may be another one.
func (w *Snapshot) StorageClass(claim map[string]any) readiness.StorageClass {
	q := classQuery(claim)
	q.Since = w.since
	found, err := w.askCache(q)
	w.Pending = w.Pending || errors.Is(err, live.ErrNotYet)
	return storageClass(claim, found, err)
}

func storageClass(claim map[string]any, found []live.Object, err error) readiness.StorageClass {
	name := readiness.ClassName(claim)
	if err != nil {
		return readiness.StorageClass{Name: name, Unknown: missingRule(err)}
	}
	all := make([]map[string]any, len(found))
	for i, l := range found {
		all[i] = BodyOf(l)
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

// ConsumerOf names the child that runs Pods now which mount a claim; "" is none. What the
// Pods mount is taken from the plan: of live workloads their template may not be kept.
func (w *Snapshot) ConsumerOf(claim map[string]any, p *plan.Plan) string {
	if p == nil {
		return ""
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Child.Policy.Patch || !readiness.Mounts(s.Document.Object, claim) {
			continue
		}
		if l := w.LiveOf(s.Child); l != nil && readiness.RunsPods(BodyOf(*l)) {
			return describeObject(s.Document)
		}
	}
	return ""
}

func describeObject(o *unstructured.Unstructured) string { return o.GetKind() + " " + o.GetName() }
