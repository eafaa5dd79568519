package ownership_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

const us, them = "jacquard", "somebody"

var builtin = applyconfigurations.NewTypeConverter(scheme.Scheme)

// A server keeps one object's managedFields as the API server does.
type server struct {
	t testing.TB
	managedfieldstest.TestFieldManager
}

// serve starts with no object of doc's kind. Kinds that client-go does not know
// get a schema deduced from their fields, as those that preserve unknown fields.
func serve(t testing.TB, doc map[string]any) server {
	u := unstructured.Unstructured{Object: doc}
	gvk := u.GroupVersionKind()
	var types managedfields.TypeConverter = builtin
	if !scheme.Scheme.Recognizes(gvk) {
		types = managedfields.NewDeducedTypeConverter()
	}
	return server{t, managedfieldstest.NewTestFieldManager(types, gvk)}
}

func (s server) apply(doc map[string]any, by string) {
	s.t.Helper()
	if err := s.Apply(&unstructured.Unstructured{Object: runtime.DeepCopyJSON(doc)}, by, true); err != nil {
		s.t.Fatal(err)
	}
}

// update changes the live object as a PUT by another manager does.
func (s server) update(by string, change func(live map[string]any)) {
	s.t.Helper()
	live := s.Live().(*unstructured.Unstructured).DeepCopy()
	change(live.Object)
	if err := s.Update(live, by); err != nil {
		s.t.Fatal(err)
	}
}

func (s server) ours() ownership.Entry {
	s.t.Helper()
	e, ok, err := ownership.Ours(s.ManagedFields(), us)
	if err != nil || !ok {
		s.t.Fatalf("Ours: found %v, error %v in %v", ok, err, s.ManagedFields())
	}
	return e
}

// read parses one YAML document; whole numbers become int64.
func read(t testing.TB, text string) map[string]any {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(js); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

func set(v any, path ...string) func(map[string]any) {
	return func(m map[string]any) {
		if err := unstructured.SetNestedField(m, v, path...); err != nil {
			panic(err)
		}
	}
}

func drop(path ...string) func(map[string]any) {
	return func(m map[string]any) { unstructured.RemoveNestedField(m, path...) }
}

// item is the item of a list at path whose field is value.
func item(m map[string]any, field string, value any, path ...string) map[string]any {
	l, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	for _, i := range l.([]any) {
		if i.(map[string]any)[field] == value {
			return i.(map[string]any)
		}
	}
	panic("no such item")
}

func entry(manager, operation, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
		APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

const deploymentText = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
  labels: {app: web, jacquard.dev/owner-uid: "1234"}
  annotations: {jacquard.dev/desired: "v1:00"}
  ownerReferences:
  - {apiVersion: example.com/v1, kind: App, name: web, uid: "1234", controller: true, blockOwnerDeletion: true}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      imagePullSecrets: []
      nodeSelector: {}
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: web
        image: web:1
        args: [serve, --port=80]
        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP, name: quic}, {containerPort: 443, name: tls}]
        env: [{name: A, value: "1"}, {name: B, valueFrom: {secretKeyRef: {name: s, key: b}}}]
        resources: {requests: {cpu: 100m, memory: 1Gi}}
        volumeMounts: [{name: tmp, mountPath: /tmp}, {name: tmp, mountPath: /var/tmp, subPath: x}]
      - {name: side, image: "side:1"}
      volumes: [{name: tmp, emptyDir: {}}]
      tolerations: [{key: a, operator: Exists}]
`

const serviceText = `
apiVersion: v1
kind: Service
metadata: {name: web, labels: {}}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: http}, {port: 80, protocol: UDP, name: u}]
`

const configMapText = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, finalizers: [example.com/a]}
data: {a: "1", b.yaml: "x: 1", empty: ""}
`

const bindingText = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: []
`

const roleText = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, labels: {app: web}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
`

const accountText = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
automountServiceAccountToken: false
imagePullSecrets: [{name: pull}]
`

// releaseText is of a custom kind with free maps of maps.
const releaseText = `
apiVersion: example.com/v1
kind: Release
metadata: {name: web}
spec:
  values: {one: {two: {three: 3}}, list: [1, 2], none: {}}
`
