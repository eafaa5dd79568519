package faults

import (
	"cmp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// policy applies an admission policy for ConfigMaps in the test's namespace,
// bound, and waits until it works on a dry run.
func (s *site) policy(kind, spec string) (remove func()) {
	s.Helper()
	name := s.namespace + "-" + strings.ToLower(kind)
	cluster.Apply(s, "", strings.NewReplacer("KIND", kind, "NAME", name).Replace(`apiVersion: admissionregistration.k8s.io/v1
kind: KIND
metadata: {name: NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+s.namespace+`}}
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}
`+spec))
	binding := "{apiVersion: admissionregistration.k8s.io/v1, kind: " + kind + "Binding, metadata: {name: " + name + "}, spec: {policyName: " +
		name
	if kind == "ValidatingAdmissionPolicy" {
		binding += ", validationActions: [Deny]"
	}
	cluster.Apply(s, "", binding+"}}")
	remove = func() {
		cluster.Delete(s, "admissionregistration.k8s.io/v1", kind+"Binding", "", name)
		cluster.Delete(s, "admissionregistration.k8s.io/v1", kind, "", name)
	}
	s.Cleanup(remove)
	return remove
}

// works waits until a policy does what it should to a ConfigMap of its own.
func (s *site) works(data string, check func(error, map[string]any) bool) {
	s.Helper()
	kit.Eventually(s, "the policy works", func() error {
		o := kit.Parse(s, "{apiVersion: v1, kind: ConfigMap, metadata: {name: probe}, data: "+data+"}")[0]
		o.SetNamespace(s.namespace)
		err := cluster.Client.Create(s.Context(), o)
		got, _ := o.Object["data"].(map[string]any)
		cluster.Delete(s, "v1", "ConfigMap", s.namespace, "probe")
		if !check(err, got) {
			return errNotYet
		}
		return nil
	})
}

const mutate = `  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{data: Object.data{text: "theirs"}}'
`

// TestMutatingAdmission: a field that admission changes on every write is not
// fought over; the condition Overridden names it, after a restart too, and goes
// when the policy and the child's content have changed.
func TestMutatingAdmission(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	remove := s.policy("MutatingAdmissionPolicy", mutate)
	s.works("{text: mine}", func(_ error, data map[string]any) bool { return data["text"] == "theirs" })
	s.web("text: one")
	want := rest{children: wantSecret + parting + strings.Replace(wantConfigMap, "text: one", "text: theirs", 1)}
	s.rests(want)
	s.is("Overridden", "True", "ConfigMap/a data.text")
	s.patch("v1", "ConfigMap", "a", "kubectl-edit", `{"metadata":{"labels":{"theirs":"x"}}}`)
	s.rests(want)
	s.restart()
	s.rests(want)
	s.is("Overridden", "True", "ConfigMap/a data.text")
	remove()
	s.works("{text: mine}", func(_ error, data map[string]any) bool { return data["text"] == "mine" })
	s.web("text: two")
	s.is("Overridden", "", "")
	s.rests(rest{children: strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(wantConfigMap + parting + wantSecret)})
}

// TestValidatingAdmission: a policy refuses one child; the others are applied,
// nothing is pruned, status names the one, and it heals.
func TestValidatingAdmission(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret,
		"service.yaml": "{{ if .spec.service }}\n" + service + "{{ end }}\n"})
	s.web("text: one, service: true")
	s.rests(rest{children: wantConfigMap + parting + wantSecret + parting + wantService})
	remove := s.policy("ValidatingAdmissionPolicy", "  validations:\n  - {expression: 'object.data.text != \"two\"', message: no twos here}\n")
	s.works("{text: two}", func(err error, _ map[string]any) bool { return err != nil })
	s.web("text: two, service: false")
	s.rests(rest{
		children: wantConfigMap + parting + strings.Replace(wantSecret, "b25l", "dHdv", 1) + parting + wantService,
		because:  "applying ConfigMap " + s.namespace + "/a",
	})
	t.Log(s.message())
	s.retriesAlone()
	remove()
	s.rests(rest{children: strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(wantConfigMap + parting + wantSecret)})
}

// TestQuota: a quota refuses one child.
func TestQuota(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret, "service.yaml": "{{ if .spec.service }}\n" + service + "{{ end }}\n"})
	s.web("text: one")
	s.ready()
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {services: 0}}}")
	kit.Eventually(t, "the quota is counted", func() error {
		o := s.get("v1", "ResourceQuota", "q")
		return within(map[string]any{"status": map[string]any{"used": map[string]any{"services": "0"}}}, o.Object, "")
	})
	kit.Eventually(t, "admission knows the quota", func() error {
		o := kit.Parse(t, "{apiVersion: v1, kind: Service, metadata: {name: probe}, spec: {ports: [{port: 80}]}}")[0]
		o.SetNamespace(s.namespace)
		if err := cluster.Client.Create(t.Context(), o, client.DryRunAll); !apierrors.IsForbidden(err) {
			return cmp.Or(err, errNotYet)
		}
		return nil
	})
	s.web("text: two, service: true")
	children := strings.NewReplacer("text: one", "text: two", "b25l", "dHdv").Replace(wantConfigMap + parting + wantSecret)
	s.rests(rest{children: children, because: "applying Service " + s.namespace + "/a"})
	t.Log(s.message())
	s.retriesAlone()
	cluster.Delete(t, "v1", "ResourceQuota", s.namespace, "q")
	s.rests(rest{children: children + parting + wantService})
}

// TestRenamed: a file renamed writes its child once and no more; a child
// renamed is made under its new name before the old one is pruned.
func TestRenamed(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": configMap, "secret.yaml": secret})
	s.web("text: one")
	want := rest{children: wantConfigMap + parting + wantSecret}
	s.rests(want)
	uid := s.get("v1", "ConfigMap", "a").GetUID()
	mark := cluster.Mark(t)
	s.write(map[string]string{"map.yaml": "{{ if false }}{{ end }}\n", "settings.yaml": configMap})
	s.says("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {jacquard.dev/file: settings}}}")
	s.rests(want)
	if s.get("v1", "ConfigMap", "a").GetUID() != uid {
		t.Error("the child was recreated")
	}
	if n := kit.Tally(s.sent(mark))["patch configmaps"]; n != 1 {
		t.Errorf("%d applies: %v", n, s.sent(mark))
	}
	mark = cluster.Mark(t)
	s.write(map[string]string{"settings.yaml": strings.Replace(configMap, "{{ .metadata.name }}", "{{ .metadata.name }}-new", 1)})
	s.says(strings.Replace(wantConfigMap, "name: a", "name: a-new", 1))
	s.rests(rest{children: wantSecret + parting + strings.Replace(wantConfigMap, "name: a", "name: a-new", 1)})
	var order []string
	for _, r := range kit.Writes(s.sent(mark)) {
		if r.Resource == "configmaps" {
			order = append(order, r.Verb+" "+r.Name)
		}
	}
	if strings.Join(order, ", ") != "patch a-new, delete a" {
		t.Errorf("the order was %v", order)
	}
}
