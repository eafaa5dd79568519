package operators

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// leaseHolder is who holds the Lease of an installation, or "".
func leaseHolder(t testing.TB, namespace, identity string) string {
	t.Helper()
	var lease coordinationv1.Lease
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.Lease(identity)}, &lease); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// releaseLease lets the next replica lead at once, as a leader does that ends in order, and
// returns who led. That one must be dead, and nothing of it may be on its way.
func releaseLease(t testing.TB, namespace, identity string) (before string) {
	t.Helper()
	if before = leaseHolder(t, namespace, identity); before == "" {
		t.Fatal("nobody holds the Lease")
	}
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = namespace, api.Lease(identity)
	if err := cluster.Client.Patch(ctx, lease, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":""}}`))); err != nil {
		t.Fatal(err)
	}
	return before
}
