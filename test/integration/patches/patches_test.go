// Package patches tests reads and patches of other people's objects in a
// running operator: what is sent, whose fields they are, and what happens
// where rights, objects or whole APIs go away.
package patches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

// limited is a user whose rights a test grants, see rights_test.go.
const limited = "jacquard-limited"

func TestMain(m *testing.M) {
	kit.Log = &logged
	kit.Main(m, &cluster, "--nodes", "6", "--components", "etcd,apiserver,controller-manager,scheduler,kwok", "--token", "limited="+limited)
}

// crd is a kind with a free spec, in a group of its own.
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP}
spec:
  group: GROUP
  names: {kind: KIND, plural: PLURAL, singular: SINGULAR}
  scope: SCOPE
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              seen: {type: string}
              other: {type: string}
` + kit.StatusFields

// kindOf is a CRD of this group.
func kindOf(kind, group, scope string) string {
	singular, text := strings.ToLower(kind), crd
	if kind != "Web" { // no conditions: it is ready as it is
		text = strings.TrimSuffix(text, kit.StatusFields)
	}
	return strings.NewReplacer("PLURAL", singular+"s", "GROUP", group, "KIND", kind, "SINGULAR", singular, "SCOPE", scope).Replace(text)
}

// A site is one test's own kind Web, its folder, and an operator that serves
// it in a namespace of its own.
type site struct {
	*testing.T
	group, namespace, root string
	config                 *rest.Config // nil: the operator's
	operator               *kit.Operator
}

var sites atomic.Int64

// build writes a folder and starts an operator over it.
func build(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := lay(t, files)
	s.start()
	cluster.Served(t, s.apiVersion(), "Web")
	return s
}

// lay writes a folder; GROUP in it stands for the site's group.
func lay(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, group: fmt.Sprintf("site%d.example.com", sites.Add(1)), namespace: cluster.Namespace(t), root: t.TempDir()}
	kit.Write(t, s.root, map[string]string{"crds/webs." + s.group + ".yaml": kindOf("Web", s.group, "Namespaced")})
	s.write(files)
	return s
}

func (s *site) apiVersion() string { return s.group + "/v1" }

// write writes files of the folder.
func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/webs."+s.group+"/"+name] = strings.ReplaceAll(text, "GROUP", s.group)
	}
	kit.Write(s, s.root, placed)
}

func (s *site) start() {
	s.Helper()
	s.operator = cluster.Run(s.T, func(o *controller.Options) {
		o.InstallCRDs = s.config == nil
		if s.config != nil {
			o.Config = s.config
		}
	}, s.root)
}

// again starts the operator again, over a folder that loads, and waits until it
// has: before, it rests too.
func (s *site) again() {
	s.Helper()
	s.start()
	kit.Eventually(s, "the folder has loaded", s.operator.Ready)
}

// web applies a custom resource with this spec, in flow style.
func (s *site) web(name, spec string) {
	s.Helper()
	s.apply("person", fmt.Sprintf("{apiVersion: %s, kind: Web, metadata: {name: %s}, spec: {%s}}", s.apiVersion(), name, spec))
}

// is waits until a condition of a resource is so for its present generation.
func (s *site) is(name, kind, status, part string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s of %s is %q: %s", kind, name, status, part), func() error {
		o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, name)
		if err != nil {
			return err
		}
		return kit.IsCondition(o, kind, status, part)
	})
}

func (s *site) ready(name string) { s.Helper(); s.is(name, "Ready", "True", "") }

func (s *site) get(apiVersion, kind, name string) *unstructured.Unstructured {
	s.Helper()
	o, err := cluster.Get(apiVersion, kind, s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return o
}

// manager is the field manager of a resource's patches.
func (s *site) manager(name string) string {
	s.Helper()
	return api.PatchManager(s.get(s.apiVersion(), "Web", name).GetUID())
}

// apply server-side applies documents as a manager, with force.
func (s *site) apply(by, text string, subresource ...string) {
	s.Helper()
	for _, o := range kit.Parse(s, strings.ReplaceAll(text, "GROUP", s.group)) {
		if o.GetNamespace() == "" && !clusterScoped(o) {
			o.SetNamespace(s.namespace)
		}
		doc := client.ApplyConfigurationFromUnstructured(o)
		var err error
		if len(subresource) > 0 {
			err = cluster.Client.SubResource(subresource[0]).Apply(context.Background(), doc, client.FieldOwner(by), client.ForceOwnership)
		} else {
			err = cluster.Client.Apply(context.Background(), doc, client.FieldOwner(by), client.ForceOwnership)
		}
		if err != nil {
			s.Fatalf("applying %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

func clusterScoped(o *unstructured.Unstructured) bool {
	return slices.Contains([]string{
		"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "APIService",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterThing",
	}, o.GetKind())
}

// merge changes an object by a merge patch, as a manager.
func (s *site) merge(apiVersion, kind, name, by, patch string) {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	if !clusterScoped(o) {
		o.SetNamespace(s.namespace)
	}
	if err := cluster.Client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, []byte(patch)),
		client.FieldOwner(by)); err != nil {
		s.Fatalf("patching %s %s: %v", kind, name, err)
	}
}

// has waits until fields of an object are so: pairs of a path and a value;
// nil means absent.
func (s *site) has(apiVersion, kind, name string, pairs ...any) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s %s has %v", kind, name, pairs), func() error {
		o, err := cluster.Get(apiVersion, kind, s.namespace, name)
		if err != nil {
			return err
		}
		for i := 0; i < len(pairs); i += 2 {
			got, _, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(pairs[i].(string), ".")...)
			if err != nil {
				return err
			}
			if fmt.Sprint(got) != fmt.Sprint(pairs[i+1]) {
				return fmt.Errorf("%s is %v", pairs[i], got)
			}
		}
		return nil
	})
}

// unpatched waits until no resource of ours has fields of an object, in the
// main resource or any subresource but those named.
func (s *site) unpatched(apiVersion, kind, name string, but ...string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" has no fields of ours", func() error {
		o, err := cluster.Get(apiVersion, kind, s.namespace, name)
		if err != nil {
			return err
		}
		return patched(o, but...)
	})
}

func patched(o *unstructured.Unstructured, but ...string) error {
	for _, m := range o.GetManagedFields() {
		if strings.HasPrefix(m.Manager, api.FieldManager+"-") && m.Operation == metav1.ManagedFieldsOperationApply &&
			!slices.Contains(but, m.Subresource) {
			return fmt.Errorf("%s has %s %s", m.Manager, m.Subresource, m.FieldsV1.GetRawBytes())
		}
	}
	return nil
}

func (s *site) delete(apiVersion, kind, name string) {
	s.Helper()
	cluster.Delete(s, apiVersion, kind, s.namespace, name)
}

// gone waits until an object is gone.
func (s *site) gone(apiVersion, kind, name string) {
	s.Helper()
	kit.Eventually(s, kind+" "+name+" is gone", func() error { return cluster.Gone(apiVersion, kind, s.namespace, name) })
}
