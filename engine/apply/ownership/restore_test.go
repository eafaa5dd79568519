package ownership_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
)

// path splits a path such as "spec/ports/0/name".
func path(text string) []any {
	var steps []any
	for _, step := range strings.Split(text, "/") {
		if step >= "0" && step <= "9" {
			steps = append(steps, int(step[0]-'0'))
			continue
		}
		steps = append(steps, step)
	}
	return steps
}

const container = "spec/template/spec/containers"

// edit changes the fields of an item of a list by a function.
func edit(list, field string, is any, change func(map[string]any)) func(map[string]any) {
	return func(m map[string]any) { change(item(m, field, is, strings.Split(list, "/")...)) }
}

// appendItem adds an item to a list.
func appendItem(list, text string) func(map[string]any) {
	return func(m map[string]any) {
		at := strings.Split(list, "/")
		items, _, _ := unstructured.NestedSlice(m, at...)
		var added any = runtime.DeepCopyJSON(readItem(text))
		if err := unstructured.SetNestedSlice(m, append(items, added), at...); err != nil {
			panic(err)
		}
	}
}

// readItem reads the texts of a table, which is made outside of a test.
func readItem(text string) map[string]any {
	var m map[string]any
	js, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(js, &m)
	}
	if err != nil {
		panic(err)
	}
	return m
}

// TestRestore: what is edited so that an apply does not undo it, what is to be applied
// then, and which parts of the live object go for that.
func TestRestore(t *testing.T) {
	for name, c := range map[string]struct {
		text    string                 // what was applied before
		change  func(map[string]any)   // what the template renders now; nil: the same
		edits   []func(map[string]any) // what others did to the live object since
		before  bool                   // they did it before our last apply
		refused []ownership.Refused
		exclude []ownership.Excluded
		want    []string // corrections: path, reason, managers
		lacks   []string // a field that no item of a list has then
	}{
		"nothing": {text: deploymentText},
		"a sidecar and a field beside ours": {text: deploymentText, edits: []func(map[string]any){
			appendItem(container, "{name: proxy, image: proxy}"), set("x", "spec", "template", "metadata", "annotations", "restartedAt")}},
		"a port's key": {text: serviceText,
			edits: []func(map[string]any){edit("spec/ports", "port", int64(80), func(m map[string]any) { m["port"] = int64(81) })},
			want:  []string{"spec.ports[port=81,protocol=TCP] TookPlace somebody"}},
		"a port's key and the default that was made of it": {text: strings.Replace(serviceText, ", targetPort: http", ", name: w", 1),
			edits: []func(map[string]any){edit("spec/ports", "port", int64(80), func(m map[string]any) {
				m["port"], m["targetPort"] = int64(81), int64(81)
			})},
			want:  []string{"spec.ports[port=81,protocol=TCP] TookPlace somebody"},
			lacks: []string{"spec", "ports", "targetPort"}},
		"a protocol": {text: serviceText,
			edits: []func(map[string]any){edit("spec/ports", "name", "u", func(m map[string]any) { m["protocol"] = "SCTP" })},
			want:  []string{"spec.ports[port=80,protocol=SCTP] TookPlace somebody"}},
		"a renamed container": {text: deploymentText,
			edits: []func(map[string]any){edit(container, "name", "side", func(m map[string]any) { m["name"] = "renamed" })},
			want:  []string{"spec.template.spec.containers[name=renamed] TookPlace somebody"}},
		"a renamed container with another image": {text: deploymentText,
			edits: []func(map[string]any){edit(container, "name", "side", func(m map[string]any) { m["name"], m["image"] = "renamed", "x" })}},
		"one like ours that stood beside it before": {text: deploymentText, before: true,
			edits: []func(map[string]any){appendItem(container, "{name: other, image: 'side:1'}"),
				edit(container, "name", "side", func(m map[string]any) { m["name"] = "gone"; m["image"] = "x" })}},
		"a mount path": {text: deploymentText,
			edits: []func(map[string]any){edit(container, "name", "web", func(m map[string]any) {
				item(m, "mountPath", "/tmp", "volumeMounts")["mountPath"] = "/other"
			})},
			want: []string{"spec.template.spec.containers[name=web].volumeMounts[mountPath=/other] TookPlace somebody"}},
		"an entry like one that the template adds": {text: deploymentText,
			edits: []func(map[string]any){appendItem("spec/template/spec/volumes", "{name: theirs, emptyDir: {}}"),
				appendItem("spec/template/spec/imagePullSecrets", "{name: theirs}")},
			change: func(m map[string]any) {
				appendItem("spec/template/spec/volumes", "{name: more, emptyDir: {}}")(m)
				appendItem("spec/template/spec/imagePullSecrets", "{name: more}")(m)
			}},
		"a deleted entry": {text: deploymentText, edits: []func(map[string]any){edit(container, "name", "web", func(m map[string]any) {
			m["env"] = m["env"].([]any)[1:]
		})}},
		"an entry of keys alone": {text: deploymentText, change: set([]any{map[string]any{"name": "pull"}}, "spec", "template", "spec", "imagePullSecrets"),
			before: true,
			edits: []func(map[string]any){func(m map[string]any) {
				item(m, "name", "pull", "spec", "template", "spec", "imagePullSecrets")["name"] = "theirs"
			}},
			want: []string{"spec.template.spec.imagePullSecrets[name=theirs] TookPlace somebody"}},
		"a port's key and its target, refused": {text: serviceText,
			edits: []func(map[string]any){edit("spec/ports", "name", "u", func(m map[string]any) {
				m["port"], m["targetPort"] = int64(81), int64(9)
			})},
			change:  edit("spec/ports", "name", "u", func(m map[string]any) { m["targetPort"] = int64(80) }),
			refused: []ownership.Refused{{Path: path("spec/ports/2/name"), IsDuplicate: true}},
			want:    []string{"spec.ports[port=81,protocol=UDP] Collides somebody"}},
		"a name that the template takes now": {text: serviceText,
			edits:   []func(map[string]any){appendItem("spec/ports", "{name: new, port: 9, protocol: TCP}")},
			change:  edit("spec/ports", "name", "u", func(m map[string]any) { m["name"] = "new" }),
			refused: []ownership.Refused{{Path: path("spec/ports/1/name"), IsDuplicate: true}},
			want:    []string{"spec.ports[port=9,protocol=TCP] Collides somebody"}},
		"refused for another reason": {text: serviceText,
			edits:   []func(map[string]any){appendItem("spec/ports", "{name: new, port: 9, protocol: TCP}")},
			change:  edit("spec/ports", "name", "u", func(m map[string]any) { m["name"] = "new" }),
			refused: []ownership.Refused{{Path: path("spec/ports/1/name")}}},
		"a default of another branch": {text: deploymentText,
			change:  set("Recreate", "spec", "strategy", "type"),
			edits:   []func(map[string]any){nobody(set("25%", "spec", "strategy", "rollingUpdate", "maxSurge"))},
			refused: []ownership.Refused{{Path: path("spec/strategy/rollingUpdate")}},
			want:    []string{"spec.strategy.rollingUpdate LeftOver "}},
		"another branch that somebody owns": {text: deploymentText,
			change:  set("Recreate", "spec", "strategy", "type"),
			edits:   []func(map[string]any){set("25%", "spec", "strategy", "rollingUpdate", "maxSurge")},
			exclude: []ownership.Excluded{{Path: path("spec/strategy/rollingUpdate")}}},
		"another branch of ours": {text: deploymentText + "  strategy: {rollingUpdate: {maxSurge: 1}}\n",
			change: func(m map[string]any) {
				set(map[string]any{"type": "Recreate"}, "spec", "strategy")(m)
			},
			edits:   []func(map[string]any){nobody(set(int64(1), "spec", "strategy", "rollingUpdate", "maxUnavailable"))},
			exclude: []ownership.Excluded{{Path: path("spec/strategy/rollingUpdate")}}},
		"the default of a volume": {text: deploymentText,
			change: appendItem("spec/template/spec/volumes", "{name: more, secret: {secretName: s}}"),
			edits: []func(map[string]any){nobody(edit("spec/template/spec/volumes", "name", "tmp", func(m map[string]any) {
				m["configMap"] = map[string]any{"name": "x"}
			}))},
			exclude: []ownership.Excluded{{Path: path("spec/template/spec/volumes/0/configMap")}, {Path: path("spec/template/spec/volumes/1/configMap")}},
			want:    []string{"spec.template.spec.volumes[name=tmp].configMap LeftOver "}},
		"a default that a new object would have, too": {text: deploymentText,
			edits:   []func(map[string]any){nobody(set("RollingUpdate", "spec", "strategy", "type"))},
			exclude: []ownership.Excluded{{Path: path("spec/strategy/type"), Fits: func(v any) bool { return v == "RollingUpdate" }}}},
	} {
		t.Run(name, func(t *testing.T) {
			first := read(t, c.text)
			doc := runtime.DeepCopyJSON(first)
			if c.change != nil {
				c.change(doc)
			}
			s := serve(t, first)
			if c.before && c.change != nil {
				s.apply(doc, us)
			} else {
				s.apply(first, us)
			}
			for _, e := range c.edits {
				s.update(them, e)
			}
			live := s.Live().(*unstructured.Unstructured).DeepCopy()
			live.SetManagedFields(withTimes(owned(live.GetManagedFields()), c.before && c.change == nil))
			out := s.check(c.want, doc, ownership.Comparison{
				Document: doc, Manager: us, Live: live, WasApplied: c.before || c.change == nil, Excluded: c.exclude, Refused: c.refused,
			})
			if n := len(c.lacks); n > 0 {
				list, _, _ := unstructured.NestedSlice(out, c.lacks[:n-1]...)
				for _, i := range list {
					if i.(map[string]any)[c.lacks[n-1]] != nil {
						t.Errorf("%v is in %v", c.lacks, i)
					}
				}
			}
		})
	}
}

// TestRestoreOfAnotherSchema: a list whose items had keys when they were applied may have
// items of another type by now, since the CRD changed.
func TestRestoreOfAnotherSchema(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "Thing",
		"spec": map[string]any{"hosts": []any{"a", nil, map[string]any{"name": "b"}}}}}
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: us, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:hosts":{"k:{\"name\":\"a\"}":{".":{}}}}}`)}})
	doc := map[string]any{"apiVersion": "example.com/v2", "kind": "Thing",
		"spec": map[string]any{"hosts": []any{map[string]any{"name": "b"}, "c", nil}}}
	out := ownership.Restore(ownership.Comparison{Document: doc, Manager: us, Live: live})
	if len(out.Corrections) > 0 {
		t.Errorf("it corrects %v", out.Corrections)
	}
}

// nobody marks an edit as a default of the API server: no manager owns it. It is made
// under a name whose entries are dropped.
func nobody(change func(map[string]any)) func(map[string]any) {
	return func(m map[string]any) {
		change(m)
		meta := m["metadata"].(map[string]any)
		if meta["labels"] == nil {
			meta["labels"] = map[string]any{}
		}
		meta["labels"].(map[string]any)["unowned"] = "true"
	}
}

// owned are the entries without those of nobody.
func owned(managed []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return strings.Contains(m.FieldsV1.GetRawString(), "f:unowned")
	})
}

// withTimes says when entries changed: others a minute before us, or after us.
func withTimes(managed []metav1.ManagedFieldsEntry, before bool) []metav1.ManagedFieldsEntry {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range managed {
		then := at.Add(time.Minute)
		switch {
		case managed[i].Manager == us:
			then = at
		case before:
			then = at.Add(-time.Minute)
		}
		managed[i].Time = &metav1.Time{Time: then}
	}
	return managed
}

// check restores, compares what goes, and proves with the API server's own code that an
// apply of the document changes nothing any more.
func (s server) check(want []string, doc map[string]any, in ownership.Comparison) map[string]any {
	s.t.Helper()
	before := in.Live.DeepCopy()
	out := ownership.Restore(in)
	if diff := cmp.Diff(before.Object, in.Live.Object); diff != "" {
		s.t.Errorf("the live object was changed: %s", diff)
	}
	if diff := cmp.Diff(want, shown(out.Corrections)); diff != "" {
		s.t.Errorf("corrections: %s", diff)
	}
	if out.Object == nil {
		return nil
	}
	restored := &unstructured.Unstructured{Object: out.Object}
	if err := s.Update(restored, us); err != nil {
		s.t.Fatal(err)
	}
	s.apply(doc, us)
	live := s.Live().(*unstructured.Unstructured)
	live.SetManagedFields(nil)
	restored.SetManagedFields(nil)
	if diff := cmp.Diff(restored.Object, live.Object); diff != "" {
		s.t.Errorf("an apply changes it once more: %s", diff)
	}
	return out.Object
}

func shown(all []ownership.Correction) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Path+" "+string(c.Reason)+" "+strings.Join(c.Managers, ","))
	}
	return out
}
