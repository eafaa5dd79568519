package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// document is a child of a kind, of the resource's own name, while the spec
// wants all of them.
func document(apiVersion, kind, annotations, rest string) string {
	text := fmt.Sprintf("{{ if .spec.all }}\napiVersion: %s\nkind: %s\nmetadata:\n  name: {{ .metadata.name }}\n", apiVersion, kind)
	if annotations != "" {
		text += "  annotations:\n    " + annotations + "\n"
	}
	return text + rest + "{{ end }}\n"
}

const podTemplate = "  template:\n    metadata: {labels: {web: x}}\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i}]\n"

// everything is a folder that makes, patches and reads in every way that there
// is.
var everything = map[string]string{
	"kind.yaml": `children:
- {apiVersion: v1, kind: Namespace}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}
- {apiVersion: v1, kind: ResourceQuota, namespaces: rendered}
reads:
- {apiVersion: v1, kind: LimitRange, namespaces: [default], names: [limits]}
- {apiVersion: v1, kind: PodTemplate, namespaces: [default]}
- {apiVersion: node.k8s.io/v1, kind: RuntimeClass}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, names: [quick]}
deletionOrder: [service]
allowEmpty: true
`,
	"service.yaml": document("v1", "Service", strings.Join([]string{
		`account: {{ (lookup "v1" "ServiceAccount" "" "default").metadata.name | default "none" | quote }}`,
		`limits: {{ (lookup "v1" "LimitRange" "default" "limits").metadata.name | default "none" | quote }}`,
		`template: {{ (lookup "v1" "PodTemplate" "default" "t").metadata.name | default "none" | quote }}`,
		`classes: {{ len (select "node.k8s.io/v1" "RuntimeClass" (dict "matchLabels" (dict "web" "x"))) | quote }}`,
		`storage: {{ (lookup "storage.k8s.io/v1" "StorageClass" "" "quick").metadata.name | default "none" | quote }}`,
		`controllers: {{ len (select "v1" "ReplicationController" (dict "matchLabels" (dict "web" "x"))) | quote }}`,
	}, "\n    "), "spec: {clusterIP: None, ports: [{port: 80}]}\n"),
	"secret.yaml": document("v1", "Secret", "", "stringData:\n  password: {{ stable \"secret\" \"password\" 8 }}\n"),
	"job.yaml":    document("batch/v1", "Job", `jacquard.dev/run-once: "true"`, "spec:\n"+podTemplate),
	"set.yaml": document("apps/v1", "ReplicaSet", "jacquard.dev/on-immutable: recreate",
		"spec:\n  replicas: 0\n  selector: {matchLabels: {set: {{ .spec.text | default \"x\" }}}}\n"+
			"  template:\n    metadata: {labels: {set: {{ .spec.text | default \"x\" }}}}\n    spec: {containers: [{name: c, image: i}]}\n"),
	"claim.yaml": document("v1", "PersistentVolumeClaim", "jacquard.dev/on-delete: keep",
		"spec:\n  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Mi}}\n"),
	"scale.yaml": document("apps/v1", "Deployment", "jacquard.dev/initial-fields: spec.replicas",
		"spec:\n  replicas: 0\n  selector: {matchLabels: {web: x}}\n  template:\n    metadata: {labels: {web: x}}\n    spec: {containers: [{name: c, image: i}]}\n"),
	"space.yaml": strings.Replace(document("v1", "Namespace", "jacquard.dev/on-delete: delete", ""), "if .spec.all",
		"if or .spec.all .spec.space", 1),
	"quota.yaml": document("v1", "ResourceQuota", "", "  namespace: {{ .metadata.name }}\nspec: {hard: {pods: 1}}\n"),
	"role.yaml": document("rbac.authorization.k8s.io/v1", "ClusterRole", "",
		"rules: [{apiGroups: [x.example.com], resources: [xs], verbs: [get]}]\n"),
	"binding.yaml": document("rbac.authorization.k8s.io/v1", "RoleBinding", "",
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\n"),
	"patch.yaml": `{{ with .spec.patch }}
apiVersion: v1
kind: Endpoints
metadata:
  name: {{ . }}
  annotations:
    jacquard.dev/ownership: patch
    seen: by
{{ end }}
`,
	"sub.yaml": `{{ with .spec.status }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ . }}
  annotations:
    jacquard.dev/ownership: patch
    jacquard.dev/subresource: status
status:
  conditions: [{type: example.com/seen, status: "True"}]
{{ end }}
`,
}

// theirs are the objects that the folder patches.
const theirs = `apiVersion: v1
kind: Endpoints
metadata: {name: theirs}
---
apiVersion: v1
kind: Pod
metadata: {name: theirs}
spec: {containers: [{name: c, image: i}]}
`

// TestEverything: a resource that has every child there can be is made, changed,
// emptied and deleted; a child that goes is recreated; and names that others
// have are found to be theirs.
func TestEverything(t *testing.T) {
	t.Parallel()
	s := lay(t, "Namespaced", everything)
	s.addMutes()
	s.start()
	roles := s.operator.Access.Roles(t)
	a, b := s.namespace+"-a", s.namespace+"-b"
	s.apply(theirs)
	s.web(a, "all: true, patch: theirs, status: theirs")
	s.has(a, 10)
	made := s.children(a)
	s.web(a, "all: true, patch: theirs, status: theirs, text: more")
	s.anew("apps/v1", "ReplicaSet", a, made)
	s.deleteAll(slices.DeleteFunc(slices.Clone(made), func(o *unstructured.Unstructured) bool { return o.GetKind() != "Service" }))
	s.has(a, 10)
	s.others(made, b)
	s.web(b, "all: true")
	s.is(b, "Stalled", "True", "left alone")
	s.inSpace(s.namespace + "-c")
	s.mute()
	s.annotate(a, "jacquard.dev/allow-prune", s.allowance("Namespace", a)+","+s.allowance("Secret", a), "patch: theirs")
	s.has(a, 0)
	s.forgetsRevisions()
	for _, name := range []string{a, b} {
		cluster.Delete(t, s.group+"/v1", "Web", s.namespace, name)
		s.gone("GROUP/v1", "Web", name)
	}
	s.operator.Stop(t)
	proven(t, s.name(), roles, all, s.sent)
	t.Logf("each of %d verbs is needed", verbs(roles))
}

// forgetsRevisions waits until a revision is deleted, since there are more than are kept:
// the present one's copies, under other digests.
func (s *site) forgetsRevisions() {
	s.Helper()
	ctx, of := context.Background(), client.MatchingLabels{api.LabelKind: s.name()}
	list := func() []appsv1.ControllerRevision {
		var found appsv1.ControllerRevisionList
		if err := cluster.Client.List(ctx, &found, of); err != nil {
			s.Fatal(err)
		}
		return found.Items
	}
	for i := range 11 {
		o := list()[0].DeepCopy()
		digest := fmt.Sprintf("%016d", i)
		o.Name, o.UID, o.ResourceVersion, o.Revision = "copy-"+digest, "", "", 0
		o.Labels[api.LabelRevision] = digest
		if err := cluster.Client.Create(ctx, o); err != nil {
			s.Fatal(err)
		}
	}
	s.write(map[string]string{"quota.yaml": everything["quota.yaml"] + "# changed\n"})
	kit.Eventually(s, "a revision is deleted", func() error {
		if n := len(list()); n != 12 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
}

// inSpace makes what a resource wants to make in its Namespace.
func (s *site) inSpace(name string) {
	s.Helper()
	s.web(name, "space: true")
	s.has(name, 1)
	s.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: " + name + ", namespace: " + name + "}}")
	s.web(name, "all: true")
	s.is(name, "Stalled", "True", "ResourceQuota")
	s.annotate(name, "jacquard.dev/allow-prune", s.allowance("Namespace", name), "all: true, patch: theirs")
	cluster.Delete(s, s.group+"/v1", "Web", s.namespace, name)
	s.gone("GROUP/v1", "Web", name)
}

// waits is the only file of a kind without status, of which events alone tell.
const waits = `{{ if lookup "networking.k8s.io/v1" "Ingress" "" "stop" }}{{ wait "stopped" }}{{ end }}`

func (s *site) addMutes() {
	s.Helper()
	crd := strings.NewReplacer("Web", "Mute", "webs", "mutes", "web}", "mute}", "    subresources: {status: {}}\n", "").Replace(kit.WebCRD)
	kit.Write(s, s.root, map[string]string{
		"crds/mutes." + s.group + ".yaml":            s.fill(crd),
		"templates/mutes." + s.group + "/waits.yaml": waits,
	})
}

// mute lets a resource without status say the same twice: the second event is
// put to the first.
func (s *site) mute() {
	s.Helper()
	s.apply("{apiVersion: GROUP/v1, kind: Mute, metadata: {name: mute}}")
	s.tells("Ready", 1)
	s.apply(`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: stop}, spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}}`)
	s.tells("stopped", 1)
	cluster.Delete(s, "networking.k8s.io/v1", "Ingress", s.namespace, "stop")
	s.tells("Ready", 2)
}

// tells waits until so many events that say something were sent, the same ones
// counted.
func (s *site) tells(what string, times int) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%d events say %s", times, what), func() error {
		list := &eventsv1.EventList{}
		if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		said := 0
		for _, e := range list.Items {
			if e.Regarding.Kind == "Mute" && strings.Contains(e.Reason+e.Note, what) {
				said++
				if e.Series != nil {
					said += int(e.Series.Count) - 1
				}
			}
		}
		if said < times {
			return fmt.Errorf("there are %d: %v", said, list.Items)
		}
		return nil
	})
}

func all(rbac.Role) bool { return true }

// has waits until a resource has so many children.
func (s *site) has(name string, children int) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("%s has %d children", name, children), func() error {
		o, err := cluster.Get(s.group+"/v1", "Web", s.namespace, name)
		if err != nil {
			return err
		}
		items, _, _ := unstructured.NestedSlice(o.Object, "status", "children")
		for _, item := range items {
			if m := item.(map[string]any); m["message"] == "not there yet" {
				return fmt.Errorf("%s %s is not there yet: %v", m["kind"], m["name"], o.Object["status"])
			}
		}
		if len(items) != children {
			return fmt.Errorf("it has %d: %v", len(items), o.Object["status"])
		}
		return nil
	})
}

// anew waits until a child is another object than before.
func (s *site) anew(apiVersion, kind, name string, before []*unstructured.Unstructured) {
	s.Helper()
	i := slices.IndexFunc(before, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	kit.Eventually(s, kind+" "+name+" is recreated", func() error {
		o, err := cluster.Get(apiVersion, kind, s.namespace, name)
		if err == nil && o.GetUID() == before[i].GetUID() {
			return fmt.Errorf("it is the same still")
		}
		return err
	})
}

// others makes objects like these that are nobody's, by another name.
func (s *site) others(like []*unstructured.Unstructured, name string) {
	s.Helper()
	for _, o := range like {
		other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind()}}
		for _, field := range []string{"spec", "data", "rules", "roleRef"} {
			if v, found := o.Object[field]; found {
				other.Object[field] = v
			}
		}
		if o.GetKind() == "Service" {
			other.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
		}
		if o.GetKind() == "Job" { // its labels and selector are the controller's
			unstructured.RemoveNestedField(other.Object, "spec", "template", "metadata")
			unstructured.RemoveNestedField(other.Object, "spec", "selector")
		}
		other.SetName(name)
		if o.GetNamespace() != "" {
			other.SetNamespace(strings.Replace(o.GetNamespace(), o.GetName(), name, 1))
		}
		if err := cluster.Client.Create(s.Context(), other); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *site) annotate(name, key, value, spec string) {
	s.Helper()
	s.apply(fmt.Sprintf("{apiVersion: GROUP/v1, kind: Web, metadata: {name: %s, annotations: {%s: %q}}, spec: {%s}}", name, key, value, spec))
}

// allowance is the text by which a resource allows the deletion of a child.
func (s *site) allowance(kind, name string) string {
	s.Helper()
	o, err := cluster.Get("v1", kind, s.namespace, name)
	if err != nil {
		s.Fatal(err)
	}
	return plan.Allowance(o.GroupVersionKind().GroupKind(), o)
}

// sent is what the site's operator sent.
func (s *site) sent() []kit.Request {
	s.Helper()
	user := s.operator.Access.User()
	return slices.DeleteFunc(cluster.AllRequests(s, s.mark), func(r kit.Request) bool { return r.User != user })
}
