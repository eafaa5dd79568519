package children

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A thing is a kind Thing in a group of its own, with a root of its own.
type thing struct {
	group, root, ns string
	// fields are further fields of spec, as lines of YAML.
	fields string
	// status are further fields of status.
	status string
	// noStatus leaves the status subresource out.
	noStatus bool
	// more is a further kind of child to look for: apiVersion and kind.
	more [2]string
}

// newThing makes a root with the CRD and the folder of a kind, and a namespace.
func newThing(t testing.TB, name string, files map[string]string) *thing {
	t.Helper()
	k := &thing{group: name + ".example.com", root: t.TempDir(), ns: cluster.Namespace(t)}
	k.writeCRD(t)
	k.write(t, files)
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name()) })
	return k
}

func (k *thing) name() string       { return "things." + k.group }
func (k *thing) apiVersion() string { return k.group + "/v1" }
func (k *thing) dir() string        { return filepath.Join(k.root, "templates", k.name()) }

// write writes files into the folder.
func (k *thing) write(t testing.TB, files map[string]string) {
	t.Helper()
	all := map[string]string{}
	for name, text := range files {
		all["templates/"+k.name()+"/"+name] = text
	}
	kit.Write(t, k.root, all)
}

func (k *thing) remove(t *testing.T, file string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(k.dir(), file)); err != nil {
		t.Fatal(err)
	}
}

func (k *thing) writeCRD(t testing.TB) {
	t.Helper()
	kit.Write(t, k.root, map[string]string{"crds/" + k.name() + ".yaml": k.crd()})
}

func (k *thing) crd() string {
	subresources := "subresources: {status: {}}"
	if k.noStatus {
		subresources = "subresources: {}"
	}
	return fmt.Sprintf(crdText, k.group, subresources, k.fields, k.status)
}

const crdText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s}
spec:
  group: %[1]s
  names: {kind: Thing, plural: things, singular: thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    %[2]s
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string, default: hello}
              count: {type: integer, default: 1}
              %[3]s
          status:
            type: object
            properties:
              %[4]s
` + kit.StatusFields

// apply applies a resource with this spec in flow style.
func (k *thing) apply(t testing.TB, name, spec string) {
	t.Helper()
	cluster.Apply(t, k.ns, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s}\nspec: {%s}\n", k.apiVersion(), name, spec))
}

// run runs an operator over the kind's root and installs its CRD.
func (k *thing) run(t testing.TB, others ...*thing) *kit.Operator {
	t.Helper()
	roots := []string{k.root}
	all := []*thing{k}
	for _, o := range others {
		roots = append(roots, o.root)
		all = append(all, o)
	}
	op := cluster.Run(t, install, roots...)
	for _, k := range all {
		cluster.Served(t, k.apiVersion(), "Thing")
	}
	return op
}

// ready waits until resources are Ready.
func (k *thing) ready(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		kit.Eventually(t, k.group+" "+name+" is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", k.ns, name) })
	}
}

// says waits until a resource has this condition: type, status, and every part
// of its reason and message.
func (k *thing) says(t testing.TB, name, kind, status string, parts ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%s %s says %s=%s %q", k.group, name, kind, status, parts), func() error {
		o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
		if err != nil {
			return err
		}
		for _, part := range append(parts, "") {
			if err := kit.IsCondition(o, kind, status, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// data waits until a ConfigMap of the kind's namespace has this data.text;
// "" means that there is none.
func (k *thing) data(t *testing.T, name, text string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("ConfigMap %s/%s says %q", k.ns, name, text), func() error {
		if text == "" {
			return cluster.Gone("v1", "ConfigMap", k.ns, name)
		}
		o, err := cluster.Get("v1", "ConfigMap", k.ns, name)
		if err != nil {
			return err
		}
		if got := fmt.Sprint(o.Object["data"]); got != "map[text:"+text+"]" {
			return fmt.Errorf("it says %s", got)
		}
		return nil
	})
}

// config is a template of a ConfigMap, named after the resource and a suffix.
func config(suffix, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}" + suffix + "\ndata:\n  text: " + text + "\n"
}

// plain is a folder with one ConfigMap.
func plain() map[string]string {
	return map[string]string{"map.yaml": config("", "{{ .spec.text }}")}
}

func with(files, more map[string]string) map[string]string {
	all := maps.Clone(files)
	maps.Copy(all, more)
	return all
}

// told waits until an event about an object has all these parts.
func told(t *testing.T, namespace, about string, parts ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("an event about %s says %q", about, parts), func() error {
		notes := events(t, namespace, about)
		for _, note := range notes {
			all := true
			for _, part := range parts {
				all = all && strings.Contains(note, part)
			}
			if all {
				return nil
			}
		}
		return fmt.Errorf("there are %q", notes)
	})
}
