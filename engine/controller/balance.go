package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// The leader chooses other bounds for the buckets where these leave one replica with much
// more than its part, and others do not: FNV-1a, by which the API server divides, hardly
// tells namespaces apart whose names begin alike.
const (
	balanceTick = 10 * time.Second
	// balanceGap is how long bounds stay at least: each change has all replicas list again.
	balanceGap = 10 * time.Minute
	// unbalanced is how many times the mean a replica may serve, and fewest how many
	// resources are worth to be moved.
	unbalanced = 1.5
	fewest     = 100
)

// keepBalance looks at how much each replica serves, while this one leads: all buckets are
// to have an owner, and none is to have much more than its part.
func (o *Operator) keepBalance(ctx context.Context) error {
	if !o.divides() {
		return nil
	}
	var changed time.Time
	for seen := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(balanceTick):
		}
		unowned := 0
		if o.leads() {
			unowned = o.member.Unowned()
		}
		metrics.Unowned(unowned)
		o.noteUnable()
		if !o.leads() || time.Since(changed) < balanceGap || !o.outOfBalance() {
			seen = 0
			continue
		}
		if seen++; seen < 2 { // replicas may have begun just now
			continue
		}
		seen, changed = 0, time.Now()
		if err := o.rebalance(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "buckets not divided anew")
		}
	}
}

// noteUnable notes which kinds some replica cannot serve, since it does not have their revision.
// The leader serves these, and looks whether the revision is stored.
func (o *Operator) noteUnable() {
	unable := map[string]bool{}
	if o.leads() {
		says, _ := o.member.Replicas()
		for _, text := range says {
			for _, name := range heartbeat.ReadReplica(text).Unable {
				unable[name] = true
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, k := range o.kinds {
		if k.areUnable != unable[name] {
			k.areUnable, k.kept = unable[name], nil
			o.names.Add(name)
		}
	}
}

// outOfBalance reports whether a replica serves much more than its part, by what replicas
// say of themselves. The leader does while a folder rolls out, and is to.
func (o *Operator) outOfBalance() bool {
	if o.turns.now().Rolls() {
		return false
	}
	says, _ := o.member.Replicas()
	most, total := 0, 0
	for _, text := range says {
		n := heartbeat.ReadReplica(text).Resources
		most, total = max(most, n), total+n
	}
	return total >= fewest && len(says) > 1 && float64(most*len(says)) > unbalanced*float64(total)
}

// rebalance divides the buckets anew, if that makes the most that a replica serves less.
func (o *Operator) rebalance(ctx context.Context) error {
	resources := map[string]int{}
	for _, r := range o.running() {
		if crd := o.seenCRD(r.name); crd == nil || crd.Spec.Scope == apiextensionsv1.ClusterScoped || o.turns.now().ByUID(r.name) {
			continue
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
		for {
			if err := o.mgr.GetAPIReader().List(ctx, list, client.Limit(500), client.Continue(list.Continue)); err != nil {
				return fmt.Errorf("counting resources of %s: %w", r.name, err)
			}
			for i := range list.Items {
				resources[list.Items[i].Namespace]++
			}
			if list.Continue == "" {
				break
			}
		}
	}
	says, bounds := o.member.Replicas()
	names := slices.Collect(maps.Keys(says))
	better := replicas.Bounds(len(bounds), resources)
	before, after := replicas.Most(bounds, names, resources), replicas.Most(better, names, resources)
	if float64(after) > 0.8*float64(before) {
		return nil // one namespace has too many: it cannot be divided
	}
	log.FromContext(ctx).Info("buckets are divided anew, by the namespaces that there are", "most", before, "then", after)
	o.member.Divide(better)
	return nil
}
