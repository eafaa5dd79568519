package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// converted is a kind of child that is stored in another version than a folder uses.
const converted = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.GROUP}
spec:
  group: GROUP
  names: {kind: Gadget, plural: gadgets, singular: gadget}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, description: CHANGE, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}}}}}}}
  conversion: CONVERSION
`

// dead is a conversion webhook at which nobody answers.
const dead = `{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}}`

// conversion is the CRD of Gadgets in a group.
func conversion(group, how string) string {
	return strings.NewReplacer("GROUP", group, "CONVERSION", how).Replace(converted)
}

// TestConversionWebhookDies: the conversion webhook of a kind of child is dead. The
// other children of its resource are corrected as before, which says what cannot be
// listed and why, and so are those of other kinds, also after a restart. Nothing of the
// sick kind is changed, and it is asked for rarely. It heals without a restart.
func TestConversionWebhookDies(t *testing.T) {
	t.Parallel()
	group := "dies.example.com"
	cluster.Apply(t, "", conversion(group, "{strategy: None}"))
	cluster.Served(t, group+"/v1", "Gadget")
	t.Cleanup(func() {
		cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gadgets."+group)
	})
	s := build(t, map[string]string{"map.yaml": configMap, "gadget.yaml": strings.NewReplacer("GROUP", group, "VERSION", "v1").Replace(gadget)})
	other := "things." + s.group
	kit.Write(t, s.root, map[string]string{"crds/" + other + ".yaml": kit.ThingCRD(s.group), "templates/" + other + "/map.yaml": configMap})
	s.restart()
	cluster.Served(t, s.apiVersion(), "Thing")
	s.web("text: one")
	cluster.Apply(t, s.namespace, fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: b}, spec: {text: two}}", s.apiVersion()))
	s.ready()
	both := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: one}}" + parting +
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {text: two}}"
	s.says(both)
	before := s.get(group+"/v1", "Gadget", "a")

	mark := cluster.Mark(t)
	cluster.Apply(t, "", conversion(group, dead))
	for _, when := range []string{"while it runs", "after a restart"} {
		s.is("Ready", "False", "listing gadgets."+group+": conversion webhook for "+group+"/v1beta1, Kind=Gadget failed: ")
		for _, name := range []string{"a", "b"} {
			cluster.Delete(t, "v1", "ConfigMap", s.namespace, name)
		}
		s.says(both)
		if err := s.operator.Ready(); err != nil {
			t.Errorf("%s it is not ready: %v", when, err)
		}
		if when == "while it runs" {
			s.restart()
		}
	}
	s.isAskedRarely(mark)

	cluster.Apply(t, "", conversion(group, "{strategy: None}"))
	s.ready()
	if after := s.get(group+"/v1", "Gadget", "a"); after.GetUID() != before.GetUID() {
		t.Error("the child of the sick kind was created again")
	}
}

// isAskedRarely fails if the operator sent requests about Gadgets in a hot loop: each
// try is a watch, a list and a question for the reason, at first after half a second.
func (s *site) isAskedRarely(mark int64) {
	s.Helper()
	var first, last time.Time
	n := 0
	for _, r := range cluster.AllRequests(s, mark) {
		if r.Resource != "gadgets" || r.Group != "dies.example.com" {
			continue
		}
		if n++; first.IsZero() {
			first = r.Received
		}
		last = r.Received
	}
	if most := 3 * (20 + int(last.Sub(first)/(3*time.Second))); n == 0 || n > most {
		s.Errorf("%d requests about Gadgets were sent within %s, want at most %d", n, last.Sub(first), most)
	}
}

// soon is within what the operator has to see a change after the CRD changed.
const soon = 15 * time.Second

// TestCRDChangesQuickly: the CRDs of a kind, of its children and of what it reads change
// again and again. After each change the operator sees new resources, deletions of
// children and edits of what is read as soon as after the first.
func TestCRDChangesQuickly(t *testing.T) {
	t.Parallel()
	const many = 8
	for name, c := range map[string]struct {
		// change changes the CRD for the nth time, and see waits until what was done
		// afterwards is seen.
		change, see func(s *site, group string, n int)
	}{
		"its own": {
			func(s *site, _ string, n int) {
				cluster.Apply(s, "", strings.Replace(strings.ReplaceAll(kit.WebCRD, "GROUP", s.group), "        type: object\n",
					fmt.Sprintf("        type: object\n        description: change %d\n", n), 1))
			},
			func(s *site, _ string, n int) {
				cluster.Apply(s, s.namespace, fmt.Sprintf("{apiVersion: %s, kind: Web, metadata: {name: new%d}, spec: {text: one}}", s.apiVersion(), n))
				s.soon(fmt.Sprintf("new resource %d", n), func() error { _, err := cluster.Get("v1", "ConfigMap", s.namespace, fmt.Sprint("new", n)); return err })
			},
		},
		"that of a child": {
			changeGadgets,
			func(s *site, group string, n int) {
				before := s.get(group+"/v1", "Gadget", "a").GetUID()
				cluster.Delete(s, group+"/v1", "Gadget", s.namespace, "a")
				s.soon(fmt.Sprintf("deletion %d", n), func() error {
					o, err := cluster.Get(group+"/v1", "Gadget", s.namespace, "a")
					if err == nil && o.GetUID() == before {
						err = errors.New("it is not created again yet")
					}
					return err
				})
			},
		},
		"that of what is read": {
			changeGadgets,
			func(s *site, group string, n int) {
				s.patch(group+"/v1", "Gadget", "read", "person", fmt.Sprintf(`{"spec":{"text":"edit %d"}}`, n))
				s.soon(fmt.Sprintf("edit %d", n), func() error {
					o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a-read")
					if err != nil {
						return err
					}
					return within(map[string]any{"text": fmt.Sprint("edit ", n)}, o.Object["data"], "data")
				})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := strings.ReplaceAll(name, " ", "-") + ".quick.example.com"
			cluster.Apply(t, "", conversion(group, "{strategy: None}"))
			cluster.Served(t, group+"/v1", "Gadget")
			read := strings.NewReplacer("GROUP", group).Replace(`{{- $read := lookup "GROUP/v1" "Gadget" .metadata.namespace "read" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}-read
data:
  text: {{ $read.spec.text }}
`)
			s := build(t, map[string]string{"map.yaml": configMap, "read.yaml": read, "kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n",
				"gadget.yaml": strings.NewReplacer("GROUP", group, "VERSION", "v1").Replace(gadget)})
			cluster.Apply(t, s.namespace, fmt.Sprintf("{apiVersion: %s/v1, kind: Gadget, metadata: {name: read}, spec: {text: first}}", group))
			s.web("text: one")
			s.ready()
			for n := range many {
				ended := s.watches(group)
				c.change(s, group, n)
				ended()
				c.see(s, group, n)
			}
		})
	}
}

// watches watches the resources and Gadgets. It returns a function that waits until the
// API server has ended one of the watches, as it does when the CRD changed.
func (s *site) watches(group string) (ended func()) {
	s.Helper()
	client, err := dynamic.NewForConfig(cluster.Config)
	if err != nil {
		s.Fatal(err)
	}
	ends := make(chan struct{}, 2)
	for _, r := range []schema.GroupVersionResource{{Group: s.group, Version: "v1", Resource: "webs"}, {Group: group, Version: "v1", Resource: "gadgets"}} {
		w, err := client.Resource(r).Namespace(s.namespace).Watch(s.Context(), metav1.ListOptions{})
		if err != nil {
			s.Fatal(err)
		}
		s.Cleanup(w.Stop)
		go func() {
			for range w.ResultChan() { // until it ends
			}
			ends <- struct{}{}
		}()
	}
	return func() { <-ends }
}

// changeGadgets changes the CRD of Gadgets for the nth time.
func changeGadgets(s *site, group string, n int) {
	s.Helper()
	cluster.Apply(s, "", strings.Replace(conversion(group, "{strategy: None}"), "CHANGE", fmt.Sprint("change ", n), 1))
}

// soon waits until the operator has done something, and fails if that takes long.
func (s *site) soon(what string, check func() error) {
	s.Helper()
	began := time.Now()
	kit.Eventually(s, what+" is seen", check)
	if took := time.Since(began); took > soon {
		s.Errorf("%s was seen after %s", what, took.Round(time.Second))
	}
}
