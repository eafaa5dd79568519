package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A listOwner is a kind with lists whose items have keys.
type listOwner struct {
	apiVersion, kind string
	// spec is the least that the API server takes, and pod where its Pod template is.
	spec string
	pod  []string
}

var listOwners = []listOwner{
	{"apps/v1", "Deployment", "{replicas: 0, selector: {matchLabels: {a: b}}}", []string{"spec", "template"}},
	{"apps/v1", "StatefulSet", "{replicas: 0, serviceName: a, selector: {matchLabels: {a: b}}}", []string{"spec", "template"}},
	{"apps/v1", "DaemonSet", "{selector: {matchLabels: {a: b}}}", []string{"spec", "template"}},
	{"batch/v1", "Job", "{parallelism: 0}", []string{"spec", "template"}},
	{"batch/v1", "CronJob", "{suspend: true, schedule: '* * * * *', jobTemplate: {}}", []string{"spec", "jobTemplate", "spec", "template"}},
	{"v1", "Service", "{selector: {a: b}}", nil},
	{"v1", "ServiceAccount", "", nil},
	{"lists.example.com/v1", "Listed", "", nil},
}

// listed is the CRD of a kind with lists.
const listed = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: listeds.lists.example.com}
spec:
  group: lists.example.com
  names: {kind: Listed, plural: listeds, singular: listed}
  scope: Namespaced
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
              outer:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    inner:
                      type: array
                      x-kubernetes-list-type: map
                      x-kubernetes-list-map-keys: [port, protocol]
                      items:
                        type: object
                        required: [port]
                        properties:
                          port: {type: integer}
                          protocol: {type: string, default: TCP}
                          text: {type: string}
`

// A listEdit is a list with one entry, and another key for it.
type listEdit struct {
	// fields are what the list needs and has, of the Pod's spec or of the object.
	fields string
	// key is the field that is edited, and to what.
	key string
	to  any
	// because is what the API server says where nobody may set the list; "": it may be.
	because string
}

// listEdits are by the path of the list, below the Pod's spec or the object. Those of
// containers stand for init containers, too.
var listEdits = map[string]listEdit{
	"containers":                    {"containers: [{name: a, image: i}]", "name", "renamed", ""},
	"containers[].env":              {"containers: [{name: a, image: i, env: [{name: A, value: x}]}]", "name", "B", ""},
	"containers[].ports":            {"containers: [{name: a, image: i, ports: [{name: http, containerPort: 80}]}]", "containerPort", 81, ""},
	"containers[].resources.claims": {"containers: [{name: a, image: i, resources: {claims: [{name: c}]}}], resourceClaims: [{name: c, resourceClaimName: x}, {name: d, resourceClaimName: z}]", "name", "d", ""},
	"containers[].volumeDevices":    {"containers: [{name: a, image: i, volumeDevices: [{name: v, devicePath: /dev/a}]}], volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]", "devicePath", "/dev/b", ""},
	"containers[].volumeMounts":     {"containers: [{name: a, image: i, volumeMounts: [{name: v, mountPath: /a}]}], volumes: [{name: v, emptyDir: {}}]", "mountPath", "/b", ""},
	"ephemeralContainers":           {"ephemeralContainers: [{name: e, image: i}]", "", nil, "ephemeral containers not allowed in pod template"},
	"evictionResponders":            {"evictionResponders: [{name: example.com/a, priority: 1}]", "", nil, "dropped"},
	"hostAliases":                   {"hostAliases: [{ip: 192.0.2.1, hostnames: [a]}]", "ip", "192.0.2.2", ""},
	"imagePullSecrets":              {"imagePullSecrets: [{name: a}]", "name", "b", ""},
	"resourceClaims":                {"resourceClaims: [{name: c, resourceClaimName: x}]", "name", "d", ""},
	"resources.claims":              {"resources: {claims: [{name: c}]}, resourceClaims: [{name: c, resourceClaimName: x}]", "", nil, "claims may not be set for Resources at pod-level"},
	"schedulingGates":               {"schedulingGates: [{name: example.com/a}]", "name", "example.com/b", ""},
	"topologySpreadConstraints":     {"topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: DoNotSchedule, maxSkew: 1, labelSelector: {}}]", "topologyKey", "b", ""},
	"volumes":                       {"volumes: [{name: v, emptyDir: {}}]", "name", "w", ""},

	"spec.ports":                     {"spec: {selector: {a: b}, ports: [{name: http, port: 80, targetPort: 8080}]}", "port", 81, ""},
	"secrets":                        {"secrets: [{name: a}]", "name", "b", ""},
	"spec.outer":                     {"spec: {outer: [{name: a, inner: [{port: 80}]}]}", "name", "b", ""},
	"spec.outer[].inner":             {"spec: {outer: [{name: a, inner: [{port: 80, text: x}]}]}", "port", 81, ""},
	"spec.scheduling.resourceClaims": {"", "", nil, "dropped"},
	"spec.jobTemplate.spec.scheduling.resourceClaims": {"", "", nil, "dropped"},
}

// A keyedList is a list of the API's own schema with the child that has it.
type keyedList struct {
	listOwner
	path  string // below the object, with [] for items
	edit  listEdit
	child *unstructured.Unstructured
}

// TestListKeys: whoever edits the key of an entry of any list, in kinds that folders
// render most, finds it as rendered soon after, with no entry beside it. What nobody may
// set or edit is refused. The lists are those of the API server's own schema.
func TestListKeys(t *testing.T) {
	t.Parallel()
	var lists []*keyedList
	files := map[string]string{"../../schemas/listeds.yaml": listed}
	cluster.Apply(t, "", listed)
	cluster.Served(t, "lists.example.com/v1", "Listed")
	for _, owner := range listOwners {
		of := keyedLists(t, owner)
		lists = append(lists, of...)
		var texts []string
		for _, l := range of {
			if l.edit.because == "" {
				text, err := yaml.Marshal(l.child.Object)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(text))
			}
		}
		files[strings.ToLower(owner.kind)+".yaml"] = strings.Join(texts, parting)
	}
	if len(lists) < 100 {
		t.Fatalf("there are only %d lists", len(lists))
	}
	s := build(t, files)
	s.web("text: one")
	var all sync.WaitGroup
	for _, l := range lists {
		all.Go(func() { s.editKey(l) })
	}
	all.Wait()
	s.is("Ready", "False", "") // Jobs that run nothing never end
	if o := s.owner(); kit.IsCondition(o, "Stalled", "True", "") == nil {
		t.Errorf("it is stalled: %v", s.message())
	}
}

// editKey edits the key of the one entry of a list, and waits until it is undone.
func (s *site) editKey(l *keyedList) {
	ctx, steps := context.Background(), strings.Split(strings.ReplaceAll(l.path, "[]", ".0"), ".")
	if l.edit.because != "" {
		s.notSettable(l, steps)
		return
	}
	name := l.kind + " " + l.path
	kit.Eventually(s, name+" is there", func() error {
		_, err := cluster.Get(l.apiVersion, l.kind, s.namespace, l.child.GetName())
		return err
	})
	want := at(s.get(l.apiVersion, l.kind, l.child.GetName()).Object, steps)
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/" + strings.Join(steps, "/") + "/0/" + l.edit.key, "value": l.edit.to}})
	if err != nil {
		s.Error(err)
		return
	}
	o := ref(l.apiVersion, l.kind, s.namespace, l.child.GetName())
	err = cluster.Client.Patch(ctx, o, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner("kubectl-edit"))
	switch {
	case l.kind == "Job" && apierrors.IsInvalid(err):
		return // a Job's template never changes
	case err != nil:
		s.Errorf("%s: %v", name, err)
		return
	}
	if reflect.DeepEqual(at(o.Object, steps), want) {
		s.Errorf("%s: the edit changes nothing: %s", name, patch)
	}
	kit.Eventually(s, name+" is as rendered", func() error {
		o, err := cluster.Get(l.apiVersion, l.kind, s.namespace, l.child.GetName())
		if err != nil {
			return err
		}
		if got := at(o.Object, steps); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		return nil
	})
}

// notSettable checks that the API server does not let anybody set a list.
func (s *site) notSettable(l *keyedList, steps []string) {
	o := l.child.DeepCopy()
	o.SetNamespace(s.namespace)
	err := cluster.Client.Create(context.Background(), o, client.DryRunAll)
	switch {
	case l.edit.because == "dropped" && err == nil && at(o.Object, steps) == nil:
	case err == nil || !strings.Contains(err.Error(), l.edit.because):
		s.Errorf("%s %s: want %q, got %v", l.kind, l.path, l.edit.because, err)
	}
}

// at finds a value by names and indexes; nil if there is none.
func at(v any, steps []string) any {
	for _, step := range steps {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			if len(x) == 0 {
				return nil
			}
			v = x[0]
		default:
			return nil
		}
	}
	return v
}

// keyedLists finds the lists with keys of a kind in the API server's own schema, outside
// of metadata and status, and makes a child for each.
func keyedLists(t *testing.T, owner listOwner) []*keyedList {
	t.Helper()
	var found []*keyedList
	for i, path := range listPaths(t, owner) {
		l := &keyedList{listOwner: owner, path: path}
		below, inPod := strings.CutPrefix(path, strings.Join(owner.pod, ".")+".spec.")
		row := strings.ReplaceAll(strings.ReplaceAll(below, "initContainers", "containers"), "ephemeralContainers[]", "ephemeralContainers")
		if strings.HasPrefix(row, "ephemeralContainers.") {
			row = "ephemeralContainers"
		}
		edit, known := listEdits[row]
		if !known {
			t.Errorf("%s has a list %s: say in this test how its key is edited", owner.kind, path)
			continue
		}
		if strings.Contains(below, "initContainers") {
			edit.fields = strings.Replace(edit.fields, "containers: [{name: a", "initContainers: [{name: init", 1)
		}
		l.edit = edit
		l.child = owner.child(t, strings.ToLower(fmt.Sprintf("%s-%d", owner.kind, i)), edit.fields, inPod && owner.pod != nil)
		found = append(found, l)
	}
	return found
}

// child makes an object with fields of its Pod's spec, or of its own.
func (o listOwner) child(t *testing.T, name, fields string, inPod bool) *unstructured.Unstructured {
	t.Helper()
	out := ref(o.apiVersion, o.kind, "", name)
	if o.spec != "" {
		out.Object["spec"] = parsed(t, o.spec)
	}
	given := parsed(t, "{"+fields+"}")
	if !inPod {
		maps.Copy(out.Object, given)
	}
	if o.pod == nil {
		return out
	}
	pod := map[string]any{"containers": []any{map[string]any{"name": "a", "image": "i"}}}
	if o.kind == "Job" || o.kind == "CronJob" {
		pod["restartPolicy"] = "Never"
	}
	if inPod {
		maps.Copy(pod, given)
	}
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": pod}
	if err := unstructured.SetNestedMap(out.Object, template, o.pod...); err != nil {
		t.Fatal(err)
	}
	return out
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	js, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Any", "x": out})
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(js); err != nil { // whole numbers become int64
		t.Fatal(err)
	}
	return u.Object["x"].(map[string]any)
}

// listPaths are the paths of the lists with keys of a kind, by the API server's OpenAPI.
func listPaths(t *testing.T, owner listOwner) []string {
	t.Helper()
	path := "apis/" + owner.apiVersion
	if !strings.Contains(owner.apiVersion, "/") {
		path = "api/" + owner.apiVersion
	}
	var all map[string]*openAPI
	kit.Eventually(t, "the API server publishes the schema of "+owner.kind, func() (err error) {
		if all, err = schemasAt(path); err != nil {
			return err
		}
		for name := range all {
			if strings.HasSuffix(name, "."+owner.kind) {
				return nil
			}
		}
		return fmt.Errorf("there is none")
	})
	var paths []string
	for name, s := range all {
		if strings.HasSuffix(name, "."+owner.kind) && s.Properties["metadata"] != nil {
			s.lists(all, "", &paths)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (s *openAPI) lists(all map[string]*openAPI, path string, found *[]string) {
	if s.ListType == "map" {
		*found = append(*found, path)
	}
	of := s
	if len(s.AllOf) == 1 {
		of = s.AllOf[0]
	}
	if of.Ref != "" {
		of = all[of.Ref[strings.LastIndex(of.Ref, "/")+1:]]
	}
	if s.ListType != "atomic" && of.Items != nil {
		of.Items.lists(all, path+"[]", found)
	}
	for name, field := range of.Properties {
		if name != "metadata" && name != "status" {
			field.lists(all, strings.TrimPrefix(path+"."+name, "."), found)
		}
	}
}
