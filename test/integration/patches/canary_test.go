package patches

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A transcript is what was logged.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var logged transcript

// canary is in every value that a template sees.
const canary = "CANARY"

// canaries are values of several looks.
var canaries = map[string]string{
	"plain": canary + "plain7", "spaced": canary + ` with "quotes" and: spaces`, "lines": canary + "\n  " + canary + ": x\n",
	"long":  strings.Repeat(canary+"x", 40),
	"regex": canary + "[(", "json": `{"` + canary + `": [`, "number": canary + "0x1z",
}

// mishaps are what goes wrong: a body of a template for each. $s is a Secret
// that was read, $m a ConfigMap.
var mishaps = map[string]string{
	"mistyped":  deployed("  replicas: {{ .spec.text }}"),
	"mapped":    deployed("  replicas: {{ $m.data }}"),
	"quantity":  deployed("  template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: \"{{ .spec.text }}\"}}}]}}"),
	"image":     deployed("  template: {spec: {containers: [{name: \"{{ .spec.text }}\", image: \"{{ $m.data.text }}\"}]}}"),
	"label":     made("ConfigMap", "  labels: {a: \"{{ .spec.text }}\"}"),
	"labelled":  made("ConfigMap", "  labels: {a: \"{{ .metadata.annotations.text }}!\"}"),
	"listed":    made("ConfigMap", "data: {{ list $m.data.text }}"),
	"type":      made("Service", "spec: {type: \"{{ $m.data.text }}\", ports: [{port: 80}]}"),
	"port":      made("Service", "spec: {ports: [{port: 80, name: \"{{ .spec.text }}\", targetPort: \"{{ .spec.text }}\"}]}"),
	"clusterIP": made("Service", "spec: {clusterIP: \"{{ .spec.text }}\", ports: [{port: 80}]}"),
	"base64":    made("Secret", "data: {k: \"{{ .spec.text }}!\"}"),
	"secret":    made("Secret", "data: {k: \"{{ $s.data.text }}!\"}"),
	"sealed":    made("ConfigMap", "data: {k: \"{{ $s.data.text }}\"}"),
	"sealedKey": made("Secret", "data: {\"{{ $s.data.text }}\": x}"),
	"conflict":  strings.Replace(patchMap, "{{ $.spec.data }}", "{k: \"{{ $.spec.text }}\"}", 1),
	"cron":      cron("schedule: {{ .spec.text }}"),
	"zone":      cron("schedule: \"* * * * *\"\n  timeZone: {{ .spec.text }}"),
	"cidr": of("networking.k8s.io/v1", "NetworkPolicy",
		"spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: \"{{ .spec.text }}\"}}]}]}"),
	"host":      of("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: \"{{ $m.data.text }}\"}]}"),
	"budget":    of("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: \"{{ .spec.text }}\", selector: {matchLabels: {a: b}}}"),
	"expressed": of("policy/v1", "PodDisruptionBudget", "spec: {selector: {matchExpressions: [{key: a, operator: \"{{ .spec.text }}\"}]}}"),
	"subject": of("rbac.authorization.k8s.io/v1", "RoleBinding",
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: \"{{ .spec.text }}\", name: x}"),
	"fieldRef":  deployed("  template: {spec: {containers: [{name: c, image: i, env: [{name: E, valueFrom: {fieldRef: {fieldPath: \"{{ .spec.text }}\"}}}]}]}}"),
	"wait":      "{{ wait (printf \"not yet %s\" $s.data.text) }}",
	"fail":      "{{ fail (printf \"never %s\" (b64dec $s.data.text)) }}",
	"regexp":    made("ConfigMap", "data: {k: \"{{ regexFind .spec.text \"x\" }}\"}"),
	"fromYaml":  made("ConfigMap", "data: {k: \"{{ (fromYaml .spec.text).k }}\"}"),
	"fromJson":  made("ConfigMap", "data: {k: \"{{ (fromJson $m.data.text).k }}\"}"),
	"fromJsonS": made("Secret", "stringData: {k: \"{{ (fromJson $s.data.text).k }}\"}"),
	"semver":    made("ConfigMap", "data: {k: \"{{ semverCompare .spec.text \"1.2.3\" }}\"}"),
	"b64dec":    made("ConfigMap", "data: {k: \"{{ b64dec .spec.text }}\"}"),
	"int":       made("ConfigMap", "data: {k: \"{{ int .spec.text }}\"}"),
	"add":       made("ConfigMap", "data: {k: \"{{ add1 .spec.text }}\"}"),
	"field":     made("ConfigMap", "data: {k: \"{{ .spec.text.more }}\"}"),
	"index":     made("ConfigMap", "data: {k: \"{{ index (list 1) (len .spec.text) }}\"}"),
	"asText":    made("ConfigMap", "data: {k: \"{{ $m.data }}\"}"),
	"duration":  made("ConfigMap", "data: {k: \"{{ duration .spec.text }}\"}"),
	"gt":        made("ConfigMap", "data: {k: \"{{ gt .spec.text 1 }}\"}"),
	"range":     made("ConfigMap", "data: {k: \"{{ range .spec.text }}{{ end }}\"}"),
	"printf":    made("ConfigMap", "data: {k: \"{{ printf \"%d\" .spec.text }}\"}"),
	"selector":  "{{ range select \"v1\" \"Pod\" (dict \"matchLabels\" (dict \"a\" .spec.text)) }}{{ end }}",
	"operator":  "{{ range select \"v1\" \"Pod\" (dict \"matchExpressions\" (list (dict \"key\" \"a\" \"operator\" .spec.text))) }}{{ end }}",
}

func made(kind, rest string) string { return of("v1", kind, rest) }

func of(apiVersion, kind, rest string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: {{ .metadata.name }}\n" + rest + "\n"
}

func cron(rest string) string {
	return of("batch/v1", "CronJob", "spec:\n  "+rest+
		"\n  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}")
}

func deployed(rest string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  selector: {matchLabels: {a: b}}\n" +
		rest + "\n"
}

// TestCanary: what is in a resource, a Secret or a ConfigMap is in no log line,
// event, status, metric or error, whatever goes wrong.
func TestCanary(t *testing.T) {
	files := map[string]string{"kind.yaml": allowEmpty}
	for name, body := range mishaps {
		files["m"+strings.ToLower(name)+".yaml"] = "{{- if eq .spec.mishap \"" + name +
			"\" }}\n{{- $s := lookup \"v1\" \"Secret\" \"\" .spec.name }}\n{{- $m := lookup \"v1\" \"ConfigMap\" \"\" .spec.name }}\n" + body +
			"\n{{- end }}\n"
	}
	t.Parallel()
	s := build(t, files)
	var webs []string
	for look, text := range canaries {
		s.create("v1", "Secret", look, map[string]any{"stringData": map[string]any{"text": text}})
		s.create("v1", "ConfigMap", look, map[string]any{"data": map[string]any{"text": text, "k": "theirs"}})
		for name := range mishaps {
			web := strings.ToLower(name + "-" + look)
			webs = append(webs, web)
			s.create(s.apiVersion(), "Web", web, map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"text": canary + "label"}, "annotations": map[string]any{"text": text}},
				"spec":     map[string]any{"mishap": name, "text": text, "name": look, "map": look, "data": map[string]any{"k": text}},
			})
		}
	}
	told := map[string]int{}
	for _, name := range webs {
		kit.Eventually(t, name+" is told of", func() error {
			o, err := cluster.Get(s.apiVersion(), "Web", s.namespace, name)
			if err != nil {
				return err
			}
			if o.Object["status"] == nil {
				return fmt.Errorf("it has no status")
			}
			return nil
		})
	}
	s.rests()
	for _, name := range webs {
		o := s.get(s.apiVersion(), "Web", name)
		clean(t, "the status of "+name, fmt.Sprint(o.Object["status"]))
		if strings.Contains(fmt.Sprint(o.Object["status"]), "FolderInvalid") {
			t.Fatal(o.Object["status"])
		}
		if kit.IsCondition(o, "Ready", "True", "") != nil {
			mishap, _, _ := strings.Cut(name, "-")
			told[mishap]++
		}
	}
	for name := range mishaps {
		if told[strings.ToLower(name)] == 0 {
			t.Errorf("nothing went wrong with %s", name)
		}
	}
	s.nothingTold()
}

// nothingTold looks through events, metrics and the log.
func (s *site) nothingTold() {
	s.Helper()
	for _, apiVersion := range []string{"v1", "events.k8s.io/v1"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(apiVersion)
		list.SetKind("EventList")
		if err := cluster.Client.List(context.Background(), list, client.InNamespace(s.namespace)); err != nil {
			s.Fatal(err)
		}
		for _, e := range list.Items {
			if regarding := fmt.Sprint(e.Object["involvedObject"], e.Object["regarding"]); strings.Contains(regarding, s.group) {
				clean(s.T, "an event", fmt.Sprint(e.Object))
			}
		}
	}
	families, err := prometheus.Gatherers{metrics.Registry}.Gather()
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range families {
		clean(s.T, "a metric", f.String())
	}
	log := logged.String()
	if !strings.Contains(log, s.group) {
		s.Error("the log does not speak of the kind: nothing is proved")
	}
	for line := range strings.Lines(log) {
		clean(s.T, "the log", line)
	}
}

// clean fails if a text holds the canary.
func clean(t *testing.T, what, text string) {
	t.Helper()
	if i := strings.Index(text, canary); i >= 0 {
		t.Errorf("%s has the canary: …%s", what, text[max(0, i-300):min(len(text), i+100)])
	}
}

// create creates an object whose fields are given.
func (s *site) create(apiVersion, kind, name string, fields map[string]any) {
	s.Helper()
	o := &unstructured.Unstructured{Object: fields}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(s.namespace)
	o.SetName(name)
	if err := cluster.Client.Create(context.Background(), o, client.FieldOwner("person")); err != nil {
		s.Fatal(err)
	}
}
