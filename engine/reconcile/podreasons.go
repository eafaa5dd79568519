package reconcile

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

const (
	// podReasonsAfter is for how long a child is not ready before its Pods are listed,
	// and the shortest time until they are again.
	podReasonsAfter = 30 * time.Second
	// mostPods is how many Pods of a child are listed, mostPodLists of how many
	// children in one reconciliation, and mostPodReasons how many reasons are told.
	mostPods       = 20
	mostPodLists   = 3
	mostPodReasons = 2
)

// A notReadyChild is a child that is not ready, and what its Pods wait for.
type notReadyChild struct {
	// next is when its Pods are to be listed, and gap how long after that they are
	// again.
	next time.Time
	gap  time.Duration
	// said is what the child itself said when they were listed.
	said    string
	reasons []readiness.PodReason
}

// withPodReasons adds to the children that have not been ready for a while what their
// Pods wait for, where kind.yaml says reportPodReasons.
func (t judge) withPodReasons(ctx context.Context, children []status.Child, view *observe.Snapshot) []status.Child {
	if !t.subject.Settings().ReportPodReasons || t.subject.IsDeleting() {
		return children
	}
	known, now, lists := t.memory.notReady, t.r.now(), 0
	t.memory.notReady = map[plan.Ref]*notReadyChild{}
	for i := range children {
		c := &children[i]
		l, there := findWorkload(view, *c)
		if c.Ready || !there {
			continue
		}
		key := plan.RefOf(l)
		m := known[key]
		if m == nil {
			m = &notReadyChild{next: now.Add(podReasonsAfter), gap: podReasonsAfter}
		}
		t.memory.notReady[key] = m
		if m.said != c.Message && m.gap > podReasonsAfter { // it came further, or fell back
			m.gap, m.next = podReasonsAfter, now
		}
		if !now.Before(m.next) && lists < mostPodLists {
			lists++
			m.said, m.reasons = c.Message, t.podReasons(ctx, l)
			m.next, m.gap = now.Add(m.gap), min(2*m.gap, longestGap)
		}
		t.found.requeueAfter(max(m.next.Sub(now), firstWait))
		addPodReasons(c, m.reasons)
	}
	return children
}

// addPodReasons adds to the message of a child what its Pods wait for.
func addPodReasons(c *status.Child, reasons []readiness.PodReason) {
	var texts []string
	for _, r := range reasons[:min(len(reasons), mostPodReasons)] {
		texts = append(texts, r.Message)
		c.Failed = c.Failed || r.Failed
	}
	if len(texts) > 0 {
		c.Message += ": its Pods: " + strings.Join(texts, "; ")
	}
}

// findWorkload returns the live object of a child that creates Pods.
func findWorkload(view *observe.Snapshot, c status.Child) (live.Object, bool) {
	for _, l := range view.Live {
		if l.GVK == schema.FromAPIVersionAndKind(c.APIVersion, c.Kind) && l.Meta.GetNamespace() == c.Namespace && l.Meta.GetName() == c.Name {
			return l, readiness.PodSelector(observe.BodyOf(l)) != nil
		}
	}
	return live.Object{}, false
}

// podReasons lists Pods of a child and says what they wait for, or why that cannot be
// found out.
func (t judge) podReasons(ctx context.Context, l live.Object) []readiness.PodReason {
	writer, err := t.childWriter()
	if err != nil {
		return nil // it is told of by what is written
	}
	workload := observe.BodyOf(l)
	in := apply.Selection{Namespace: l.Meta.GetNamespace(), Labels: readiness.PodSelector(workload), Limit: mostPods}
	pods, err := writer.List(ctx, pod, in)
	if err != nil {
		refusal := refusals.Classify(err)
		if refusal.Rule != "" { // it fits where the server's words do not
			return []readiness.PodReason{{Message: "not known; the missing rule, in " + refusal.Rule}}
		}
		return []readiness.PodReason{{Message: "not known: " + refusal.Error()}}
	}
	all := make([]*unstructured.Unstructured, len(pods.Items))
	for i := range pods.Items {
		all[i] = &pods.Items[i]
	}
	return readiness.PodReasons(workload, all, readiness.StablePod)
}

var pod = live.Resource{
	GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
	Namespaced: true,
}
