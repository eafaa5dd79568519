package kit

import (
	"context"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// somebody may make ConfigMaps beside the operators' accounts, and nothing else.
const somebody = `apiVersion: v1
kind: Namespace
metadata: {name: operators}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: somebody, namespace: operators}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: somebody, namespace: operators}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: somebody}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: somebody}]
`

// awaitAdmission waits until the admission that guards owner references knows
// the kind of a CRD: until then it refuses everybody who may not block any
// deletion. Somebody asks, by a dry run, and is told what right is missing once
// the kind is known.
func (c *Cluster) awaitAdmission(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	gvk, err := findServed(crd)
	if err != nil {
		return
	}
	if _, done := c.admitted.LoadOrStore(crd.UID, true); done {
		return
	}
	cfg := rest.CopyConfig(c.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "somebody"}
	asks, err := client.New(cfg, client.Options{})
	if err != nil {
		return
	}
	_ = awaitSuccess(func() error { // a test that meets an admission which never learns it says so itself
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		o.SetNamespace(home)
		o.SetName("asks")
		o.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: "x", UID: "x", BlockOwnerDeletion: ptr.To(true),
		}})
		if err := asks.Create(ctx, o, client.DryRunAll); err != nil && strings.Contains(err.Error(), "RESTMapping") {
			return err
		}
		return nil
	})
}
