package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// contentDrifts are merge patches of what a child says, by kind. Kinds that
// are not here drift in their metadata only.
var contentDrifts = map[string][]string{
	"Service": {`{"spec":{"ports":[{"name":"theirs","port":1234}]}}`, `{"spec":{"selector":{"app":null,"theirs":"x"}}}`,
		`{"spec":{"selector":null}}`},
	"StatefulSet": {`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"theirs"}]}}}}`},
	"Deployment": {`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"theirs"}]}}}}`,
		`{"spec":{"template":{"metadata":{"labels":{"app":null}}}}}`},
	"DaemonSet":               {`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"theirs"},{"name":"more","image":"theirs"}]}}}}`},
	"Role":                    {`{"rules":[]}`, `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`},
	"RoleBinding":             {`{"subjects":[]}`, `{"subjects":null}`},
	"NetworkPolicy":           {`{"spec":{"ingress":[]}}`, `{"spec":{"policyTypes":["Egress"]}}`},
	"PodDisruptionBudget":     {`{"spec":{"maxUnavailable":9}}`},
	"CronJob":                 {`{"spec":{"schedule":"1 1 1 1 1","suspend":null}}`},
	"Ingress":                 {`{"spec":{"rules":[{"host":"theirs.example.com"}]}}`},
	"HorizontalPodAutoscaler": {`{"spec":{"maxReplicas":9}}`},
}

// drifts are merge patches of any child.
var drifts = []string{
	`{"metadata":{"labels":{"made-by":"somebody"}}}`, `{"metadata":{"labels":null}}`, `{"metadata":{"annotations":null}}`,
	`{"metadata":{"ownerReferences":null}}`, `{"metadata":{"ownerReferences":null,"labels":null}}`,
	`{"metadata":{"managedFields":[{}]}}`, `{"metadata":{"managedFields":[{}],"labels":{"made-by":"somebody"}}}`,
}

// drift changes one child as somebody else would, or deletes it, and says how.
// What is changed gets a label "theirs", which must stay.
func drift(t testing.TB, r *rand.Rand, o *unstructured.Unstructured) string {
	t.Helper()
	ctx := context.Background()
	if r.IntN(5) == 0 {
		// Without a policy, a Job's Pods would be orphaned.
		if err := cluster.Client.Delete(ctx, o.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			t.Fatal(err)
		}
		return "deleted"
	}
	patch := pick(r, drifts)
	if all := append(dataDrifts(r, o), contentDrifts[o.GetKind()]...); len(all) > 0 && r.IntN(3) > 0 {
		patch = pick(r, all)
	}
	by := pick(r, []string{"kubectl-edit", "gitops", "jacquard"})
	for _, p := range []string{patch, `{"metadata":{"labels":{"theirs":"x"}}}`} {
		err := cluster.Client.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(p)), client.FieldOwner(by))
		if apierrors.IsInvalid(err) { // for some kinds it is immutable
			return drift(t, r, o)
		}
		if err != nil {
			t.Fatalf("%s %s: %s: %v", o.GetKind(), o.GetName(), p, err)
		}
		by = "gitops" // the label is another's in any case
	}
	return patch + " by " + by
}

// dataDrifts change data, and the spec of a kind that the test made.
func dataDrifts(r *rand.Rand, o *unstructured.Unstructured) []string {
	field, value := "data", "theirs"
	switch o.GetKind() {
	case "ConfigMap":
	case "Secret":
		value = "dGhlaXJz"
	case "Deployment", "StatefulSet":
		return nil
	default:
		if _, there, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "all"); there {
			return []string{`{"spec":null}`, `{"spec":{"all":"theirs"}}`, `{"spec":{"all":null}}`}
		}
		return nil
	}
	data, _, _ := unstructured.NestedMap(o.Object, field)
	if len(data) == 0 {
		return nil
	}
	key, _ := json.Marshal(pick(r, sortedKeys(data)))
	return []string{fmt.Sprintf(`{%q:{%s:%q}}`, field, key, value), fmt.Sprintf(`{%q:{%s:null}}`, field, key), fmt.Sprintf(`{%q:null}`, field)}
}
