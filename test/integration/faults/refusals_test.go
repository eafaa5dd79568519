package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	clientrest "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/test/kit"
	recorded "github.com/jacquard-operator/jacquard/test/refusals"
)

var update = flag.Bool("update", false, "write what the API server answers into test/refusals/recorded")

// disks is the CRD of a kind with transition rules.
const disks = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: disks.storage.acme.example}
spec:
  group: storage.acme.example
  scope: Namespaced
  names: {kind: Disk, listKind: DiskList, plural: disks, singular: disk}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              class: {type: string}
              zone: {type: string}
              owner:
                type: string
                maxLength: 99
                x-kubernetes-validations:
                - {rule: self == oldSelf, messageExpression: '"it is of " + oldSelf + ", not of " + self'}
              size:
                type: integer
                x-kubernetes-validations:
                - {rule: self >= oldSelf, message: a disk does not shrink}
              mode: {type: string, enum: [fast, slow]}
              bytes: {type: string, format: byte}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, text: {type: string}}
            x-kubernetes-validations:
            - {rule: '!has(self.class) || self.class == oldSelf.class', message: the class of a disk stays what it was}
            - {rule: '!has(self.zone) || self.zone == oldSelf.zone'}
`

// A provocation is a row of the table that is played on the cluster.
type provocation struct {
	*testing.T
	row       recorded.Row
	namespace string
	resource  live.Resource
	writer    *apply.Writer
}

// TestRecordRefusals: the API server refuses each row of the table in the way that it
// says, and, if it is of the version with which the table was recorded, in the same
// words. With -update, what it answers is recorded.
func TestRecordRefusals(t *testing.T) {
	t.Parallel()
	cluster.Apply(t, "", disks)
	cluster.Served(t, "storage.acme.example/v1", "Disk")
	version := serverVersion(t)
	rows, err := recorded.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			p := &provocation{T: t, row: row}
			got, kind := p.play()
			got.Version = version
			if string(kind) != row.Kind {
				t.Errorf("it is refused as %q, want %q: %s", kind, row.Kind, got.Answer.Message)
			}
			if *update {
				p.write(got)
				return
			}
			recorded, err := row.Recorded()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(recorded, got); recorded.Version == version && diff != "" {
				t.Errorf("(- recorded, + answered):\n%s", diff)
			}
		})
	}
}

func serverVersion(t *testing.T) string {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return info.GitVersion
}

func (p *provocation) write(got *recorded.Recorded) {
	p.Helper()
	root, err := kit.Root()
	if err == nil {
		err = p.row.Write(root, got)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// play provokes the refusal. It returns what is recorded of it, and its kind.
func (p *provocation) play() (*recorded.Recorded, refusals.Kind) {
	p.Helper()
	p.prepare()
	var there *unstructured.Unstructured
	if p.row.Made() != "" {
		there = p.exists()
	}
	p.surround()
	doc := p.document(p.row.Sent())
	var refusal *refusals.Refusal
	kit.Eventually(p, "it is refused", func() error {
		var err error
		if there == nil {
			_, err = p.writer.Dry().Create(p.Context(), p.resource, doc)
		} else {
			_, err = p.writer.Dry().Update(p.Context(), p.resource, doc, there.GetUID())
		}
		if err == nil {
			return errNotYet
		}
		refusal = refusals.Classify(err)
		return nil
	})
	out := &recorded.Recorded{Resource: p.resource.GVR.Resource, Answer: p.answer(refusal)}
	if there == nil {
		return out, refusal.Kind
	}
	_, fresh := p.writer.Probe(p.Context(), p.resource, doc)
	if fresh != nil {
		out.Fresh = p.answer(fresh)
	}
	refusal = refusal.OfChange(refusals.Change{Sent: doc, Live: there, Fresh: fresh})
	out.Live = p.seen(there)
	return out, refusal.Kind
}

// prepare makes the namespace, and finds out how the child's kind is served.
func (p *provocation) prepare() {
	p.Helper()
	if p.namespace = "missing"; p.row.Namespace != "missing" {
		p.namespace = cluster.Namespace(p.T)
	}
	doc := p.document(p.row.Sent())
	mapping, err := cluster.Client.RESTMapper().RESTMapping(doc.GroupVersionKind().GroupKind(), doc.GroupVersionKind().Version)
	if err != nil {
		p.Fatal(err)
	}
	p.resource = live.Resource{GVK: doc.GroupVersionKind(), GVR: mapping.Resource, Namespaced: !p.row.Cluster}
	p.writeAs("")
}

// writeAs has the child written by a user; "": by the admin.
func (p *provocation) writeAs(user string) {
	p.Helper()
	cfg := clientrest.CopyConfig(cluster.Config)
	cfg.Impersonate.UserName = user
	through, err := clientrest.HTTPClientFor(cfg)
	if err == nil {
		p.writer, err = apply.NewWriter(cfg, through)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// document is the child as the operator sends it, without its owner reference: the
// garbage collector knows no such owner.
func (p *provocation) document(text string) *unstructured.Unstructured {
	p.Helper()
	doc := kit.Parse(p, text)[0]
	if !p.row.Cluster {
		doc.SetNamespace(p.namespace)
	}
	labels := doc.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[api.LabelOwnerUID] = "uid"
	doc.SetLabels(labels)
	return doc
}

// exists makes the child as it was, and changes it as another manager does. It returns
// the child as it is then: controllers change it later.
func (p *provocation) exists() *unstructured.Unstructured {
	p.Helper()
	there, err := p.writer.Create(p.Context(), p.resource, p.document(p.row.Made()))
	if err != nil {
		p.Fatal(err)
	}
	if p.row.Cluster {
		p.Cleanup(func() { cluster.Delete(p, there.GetAPIVersion(), there.GetKind(), "", there.GetName()) })
	}
	if p.row.Others != nil {
		err := cluster.Client.Patch(p.Context(), there, client.RawPatch(types.JSONPatchType, []byte(p.row.Others.Patch)),
			client.FieldOwner(p.row.Others.Manager))
		if err != nil {
			p.Fatal(err)
		}
	}
	return there
}

// surround brings about what refuses the child.
func (p *provocation) surround() {
	p.Helper()
	for _, o := range kit.Parse(p, strings.ReplaceAll(p.row.Around, "NAMESPACE", p.namespace)) {
		text, err := json.Marshal(o.Object)
		if err != nil {
			p.Fatal(err)
		}
		cluster.Apply(p, map[bool]string{true: p.namespace}[!strings.HasPrefix(o.GetAPIVersion(), "admission")], string(text))
		if o.GetKind() == "ResourceQuota" {
			kit.Eventually(p, "the quota is counted", func() error {
				o, err := cluster.Get("v1", "ResourceQuota", p.namespace, o.GetName())
				if _, counted, _ := unstructured.NestedMap(o.Object, "status", "used"); !counted {
					return errNotYet
				}
				return err
			})
		}
	}
	if p.row.Webhook != "" {
		s := &site{T: p.T, namespace: p.namespace}
		server := s.serveHook("", func() *admissionv1.AdmissionResponse {
			return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: p.row.Webhook, Code: http.StatusForbidden}}
		})
		s.hook("ValidatingWebhookConfiguration", server)
		if p.row.Webhook == "down" {
			server.Close()
		}
	}
	if p.row.Namespace == "ends" {
		held := kit.Parse(p, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/held]}}")[0]
		held.SetNamespace(p.namespace)
		if err := cluster.Client.Create(p.Context(), held); err != nil {
			p.Fatal(err)
		}
		p.Cleanup(func() {
			cluster.Client.Patch(context.Background(), held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) //nolint:errcheck // the cluster ends
		})
		cluster.Delete(p, "v1", "Namespace", "", p.namespace)
	}
	if p.row.Rights != nil {
		p.limit(*p.row.Rights)
	}
}

// limit has the child written by a user with these rights alone.
func (p *provocation) limit(rights []rbacv1.PolicyRule) {
	p.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "writer"}, Rules: rights}
	binding := &rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "writer"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "writer"}}}
	for _, o := range []client.Object{role, binding} {
		if err := cluster.Client.Create(p.Context(), o); err != nil {
			p.Fatal(err)
		}
	}
	p.writeAs("writer")
	if len(rights) > 0 {
		kit.Eventually(p, "the rights are known", func() error {
			_, err := p.writer.Dry().Create(p.Context(), p.resource, p.document(p.row.Sent()))
			if err != nil && strings.Contains(err.Error(), `cannot patch resource`) {
				return err
			}
			return nil
		})
	}
}

// random is what differs between two runs, by what stands for it: unless the child has it
// itself, as addresses and ports.
var random = map[string]*regexp.Regexp{
	"input byte 0":  regexp.MustCompile(`input byte [0-9]+`),
	"127.0.0.1:443": regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	"10.96.0.1":     regexp.MustCompile(`10\.96\.[0-9]+\.[0-9]+`),
	"30000":         regexp.MustCompile(`\b3[0-2][0-9]{3}\b`),
	"00000000-0000": regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
}

// normalize reads what the server answered into out, without what differs between two
// runs.
func (p *provocation) normalize(answered, out any) {
	p.Helper()
	text, err := json.Marshal(answered)
	if err != nil {
		p.Fatal(err)
	}
	written := p.row.Sent() + p.row.Made()
	for stands, what := range random {
		text = what.ReplaceAllFunc(text, func(found []byte) []byte {
			if strings.Contains(written, string(found)) {
				return found
			}
			return []byte(stands)
		})
	}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(p.namespace), []byte("default")), out); err != nil {
		p.Fatal(err)
	}
}

// answer is a refusal as it is recorded.
func (p *provocation) answer(err error) *metav1.Status {
	p.Helper()
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		p.Fatalf("it is no answer of the API server: %v", err)
	}
	status := &metav1.Status{}
	p.normalize(answer.Status(), status)
	if lines := strings.Split(status.Message, "\n"); strings.HasSuffix(lines[0], " errors:") { // they are in no order
		slices.Sort(lines[1:])
		status.Message = strings.Join(lines, "\n")
	}
	return status
}

// seen is an object as it is recorded.
func (p *provocation) seen(o *unstructured.Unstructured) *unstructured.Unstructured {
	p.Helper()
	out := &unstructured.Unstructured{}
	p.normalize(o, out)
	out.SetCreationTimestamp(metav1.Time{})
	out.SetResourceVersion("1")
	delete(out.Object, "status")
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", "deployment.kubernetes.io/revision") // by its controller, if that was quick
	if len(out.GetAnnotations()) == 0 {
		out.SetAnnotations(nil)
	}
	managed := slices.DeleteFunc(out.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Subresource != "" })
	for i := range managed {
		managed[i].Time = nil
	}
	out.SetManagedFields(managed)
	return out
}
