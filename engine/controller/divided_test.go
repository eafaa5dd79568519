package controller

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// dividing is an operator, without CRDs or folders, that divides resources by Leases in
// memory, with a division that is there already. It runs until the test ends.
func dividing(t *testing.T, before replicas.Division) *Operator {
	t.Helper()
	o := defining(t)
	t.Cleanup(o.names.ShutDown)
	o.listed, o.read, o.mapsRead, o.divided, o.lock = true, true, true, make(chan struct{}, 1), &replicas.Lock{}
	none := func(api.Owner, types.UID) {}
	children, err := cluster.NewChildren(&rest.Config{}, cluster.ChildrenOptions{Changed: none, Part: o.part})
	if err != nil {
		t.Fatal(err)
	}
	reads, err := cluster.NewReads(&rest.Config{}, cluster.ReadsOptions{Changed: func(api.Owner) {}, PatchChanged: func(types.UID) {}})
	if err != nil {
		t.Fatal(err)
	}
	o.children, o.reads = children, reads
	labels := map[string]string{api.LabelReplicas: "some"}
	o.member = replicas.NewMember(replicas.Options{Leases: leasesInMemory(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "jacquard.dev", ResourceVersion: "1", Labels: labels,
			Annotations: map[string]string{api.AnnotationDivision: before.String()}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("replicas"), LeaseDurationSeconds: ptr.To[int32](60)},
	}).CoordinationV1().Leases("home"), Name: "jacquard.dev", Labels: labels, Buckets: len(before.Owners),
		Serve: o.takeShare, Drained: o.turns.drained, Log: logr.Discard()})
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	go o.member.Run(ctx, "self")    //nolint:errcheck // it ends with the test
	go o.followShare(ctx)           //nolint:errcheck // as above
	go func() { o.syncNext(ctx) }() // until the queue is shut down
	return o
}

// leasesInMemory is an API server of Leases that counts their versions.
func leasesInMemory(there *coordinationv1.Lease) *fake.Clientset {
	server := fake.NewClientset(there)
	version := 1
	server.PrependReactor("update", "leases", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		lease := a.(clienttesting.UpdateAction).GetObject().(*coordinationv1.Lease)
		version++
		lease.ResourceVersion = strconv.Itoa(version)
		return true, lease, server.Tracker().Update(a.GetResource(), lease, a.GetNamespace())
	})
	server.PrependWatchReactor("leases", func(a clienttesting.Action) (bool, watch.Interface, error) {
		if a.(clienttesting.WatchActionImpl).ListOptions.SendInitialEvents != nil { // the tracker sends no bookmarks
			return true, nil, apierrors.NewInvalid(apischema.GroupKind{}, "leases", nil)
		}
		return false, nil, nil
	})
	return server
}

func setMapsRead(o *Operator, read bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mapsRead = read
}

// TestDeletedKindIsDivided: a kind that was deleted during its rollout, or whose division
// by uid is on record, goes out of the division, whoever leads.
func TestDeletedKindIsDivided(t *testing.T) {
	const gone = "gones.example.com"
	for name, c := range map[string]struct {
		before replicas.Division
		rolls  bool
	}{
		"it was rolled out by this leader":      {before: replicas.New(4), rolls: true},
		"it was rolled out by another leader":   {before: replicas.Division{Whole: map[string][]string{gone: {"dead"}}}},
		"it was divided by uid, and rolled out": {before: replicas.Division{Whole: map[string][]string{gone: {}}, ByUID: []string{gone}}},
		"it was divided by uid":                 {before: replicas.Division{ByUID: []string{gone}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.before.Bounds, c.before.Owners, c.before.Leader = replicas.Equal(4), []string{"dead", "dead", "dead", "dead"}, "dead"
				o := dividing(t, c.before)
				time.Sleep(10 * time.Second)
				if c.rolls {
					setMapsRead(o, false) // nothing is decided of a kind without folder
					o.wholes(t.Context(), &reconcile.Version{Name: gone}, true)
					time.Sleep(10 * time.Second)
					if !o.turns.now().AllOf(gone) {
						t.Fatal("the leader does not serve all of the kind")
					}
					setMapsRead(o, true)
					o.crdWent(defines("gones", "Gone", true))
					time.Sleep(10 * time.Second)
				}
				if share := o.turns.now(); !share.Leads || !share.Whole() || share.ByUID(gone) {
					t.Errorf("the replica leads: %v, serves everything: %v, and the kind is divided by uid: %v", share.Leads, share.Whole(), share.ByUID(gone))
				}
			})
		})
	}
}
