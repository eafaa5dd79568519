package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A thing is a kind in a group of its own. Each of its resources has a ConfigMap
// beside it and one in the namespace far, which the garbage collector does not
// reach: so it has our finalizer.
type thing struct{ group, ns, far, crds string }

func newThing(t *testing.T, name string) *thing {
	t.Helper()
	t.Parallel()
	k := &thing{group: name + ".example.com", ns: cluster.Namespace(t), far: cluster.Namespace(t), crds: t.TempDir()}
	kit.Write(t, k.crds, map[string]string{"crds/" + k.name() + ".yaml": kit.ThingCRD(k.group)})
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name()) })
	cluster.Apply(t, "", kit.ThingCRD(k.group))
	cluster.Served(t, k.apiVersion(), "Thing")
	return k
}

func (k *thing) name() string       { return "things." + k.group }
func (k *thing) apiVersion() string { return k.group + "/v1" }

// folder makes a root of its own with the kind's folder, which writes this text.
func (k *thing) folder(t *testing.T, text string) string {
	t.Helper()
	root := t.TempDir()
	k.write(t, root, text)
	return root
}

func (k *thing) write(t *testing.T, root, text string) {
	t.Helper()
	dir := "templates/" + k.name() + "/"
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%sdata:\n  text: {{ .spec.text }} %s\n"
	kit.Write(t, root, map[string]string{
		dir + "kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [" +
			k.far + "]}\n",
		dir + "map.yaml": fmt.Sprintf(config, "{{ .metadata.name }}", "", text),
		dir + "far.yaml": fmt.Sprintf(config, "{{ .metadata.namespace }}-{{ .metadata.name }}", "  namespace: "+k.far+"\n", text),
	})
}

// run runs an installation over a root: its identity, and the selector of its
// share.
func (k *thing) run(t *testing.T, identity, selector, root string, namespaces ...string) *kit.Operator {
	t.Helper()
	s, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	op := cluster.Run(t, func(o *controller.Options) {
		o.Identity, o.Selector, o.Namespaces = k.group+"/"+identity, s, namespaces
	}, root)
	kit.Eventually(t, identity+" has loaded its folders", op.Ready)
	return op
}

func (k *thing) apply(t *testing.T, name, set, text string) {
	t.Helper()
	k.applyIn(t, k.ns, name, set, text)
}

func (k *thing) applyIn(t *testing.T, namespace, name, set, text string) {
	t.Helper()
	cluster.Apply(t, namespace, fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: %s, labels: {%s}}\nspec: {text: %s}\n",
		k.apiVersion(), name, set, text))
}

func (k *thing) ready(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		kit.Eventually(t, k.group+" "+name+" is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", k.ns, name) })
	}
}

// says waits until both ConfigMaps of a resource have this text.
func (k *thing) says(t *testing.T, name, text string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("%s %s says %q", k.group, name, text), func() error {
		for _, at := range k.maps(name) {
			o, err := cluster.Get("v1", "ConfigMap", at[0], at[1])
			if err != nil {
				return err
			}
			if got := fmt.Sprint(o.Object["data"]); got != "map[text:"+text+"]" {
				return fmt.Errorf("%s says %s", at[1], got)
			}
		}
		return nil
	})
}

// maps are the ConfigMaps of a resource, by namespace and name.
func (k *thing) maps(name string) [][2]string {
	return [][2]string{{k.ns, name}, {k.far, k.ns + "-" + name}}
}

// versions are the resource versions of a resource's children.
func (k *thing) versions(t *testing.T, name string) []string {
	t.Helper()
	var all []string
	for _, at := range k.maps(name) {
		o, err := cluster.Get("v1", "ConfigMap", at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(o.GetUID())+" "+o.GetResourceVersion())
	}
	return all
}

// unchanged checks that a resource's children are as they were.
func (k *thing) unchanged(t *testing.T, name string, before []string) {
	t.Helper()
	if now := k.versions(t, name); !slices.Equal(before, now) {
		t.Errorf("the children of %s were %v and are %v", name, before, now)
	}
}

// gone waits until a resource and its children are gone.
func (k *thing) gone(t *testing.T, name string) {
	t.Helper()
	kit.Eventually(t, name+" is gone", func() error { return cluster.Gone(k.apiVersion(), "Thing", k.ns, name) })
	collectGarbage(t, k.ns)
	kit.Eventually(t, "the children of "+name+" are gone", func() error {
		var errs []error
		for _, at := range k.maps(name) {
			errs = append(errs, cluster.Gone("v1", "ConfigMap", at[0], at[1]))
		}
		return errors.Join(errs...)
	})
}

// writes are what an operator wrote in the kind's namespaces since mark.
func (k *thing) writes(t *testing.T, mark int64, of *kit.Operator) []kit.Request {
	t.Helper()
	return slices.DeleteFunc(kit.Writes(cluster.Requests(t, mark)), func(r kit.Request) bool {
		return r.User != of.Access.User() || r.Namespace != k.ns && r.Namespace != k.far
	})
}

func (k *thing) crd(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// told waits until an event about the kind's CRD has all these parts.
func (k *thing) told(t *testing.T, parts ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("an event about %s says %q", k.name(), parts), func() error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("events.k8s.io/v1")
		list.SetKind("EventList")
		if err := cluster.Client.List(context.Background(), list, client.InNamespace("default")); err != nil {
			return err
		}
		for _, e := range list.Items {
			about, _, _ := unstructured.NestedString(e.Object, "regarding", "name")
			note := fmt.Sprint(e.Object["reason"], ": ", e.Object["note"])
			if about == k.name() && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(note, p) }) {
				return nil
			}
		}
		return errors.New("there is none")
	})
}

// annotate changes annotations of an object; "" takes one off.
func annotate(t *testing.T, o *unstructured.Unstructured, key, value string) {
	t.Helper()
	before := o.DeepCopy()
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	if all[key] = value; value == "" {
		delete(all, key)
	}
	o.SetAnnotations(all)
	if err := cluster.Client.Patch(context.Background(), o, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// record is what an installation says of its rollout.
func (k *thing) record(t *testing.T, identity string) rollout.Record {
	t.Helper()
	crd := k.crd(t)
	for _, c := range shard.Claims(crd) {
		if c.Identity == k.group+"/"+identity {
			return rollout.ParseRecord(crd.GetAnnotations()[c.Shard.Key(api.AnnotationRollout)])
		}
	}
	return rollout.Record{}
}

// rollout waits until an installation's rollout has this state.
func (k *thing) rollout(t *testing.T, identity string, state rollout.State) (r rollout.Record) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("the rollout of %s is %s", identity, state), func() error {
		if r = k.record(t, identity); r.State != state {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
	return r
}

// claimed waits until the one claim is for these resources, and its folder is on
// record as rolled out to them.
func (k *thing) claimed(t *testing.T, want string) {
	t.Helper()
	kit.Eventually(t, "the claim is for "+want, func() error {
		crd := k.crd(t)
		claims := shard.Claims(crd)
		if len(claims) != 1 || claims[0].String() != want {
			return fmt.Errorf("it is %v", claims)
		}
		if crd.GetAnnotations()[claims[0].Shard.Key(api.AnnotationRolledOut)] == "" {
			return errors.New("nothing is rolled out")
		}
		return nil
	})
}
