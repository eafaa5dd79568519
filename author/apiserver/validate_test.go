package apiserver_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
)

// rulesSkipped is the note of an object that is invalid for other reasons.
const rulesSkipped = "validation rules were not checked because the object is invalid; correct the other errors first"

// described says errors as a person reads them.
func described(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, crdfile.Describe(err))
	}
	return out
}

// sound has the head and metadata of a sound resource of each kind.
var sound = map[string]string{
	webapps: "apiVersion: apps.example.com/v1, kind: WebApp, metadata: {name: a, namespace: b}",
	zones:   "apiVersion: net.example.com/v1, kind: Zone, metadata: {name: a}",
	backups: "apiVersion: data.example.com/v1, kind: Backup, metadata: {name: a, namespace: b}",
	blobs:   "apiVersion: free.example.com/v1, kind: Blob, metadata: {name: a, namespace: b}",
}

func TestValidateSpec(t *testing.T) {
	tests := []struct {
		name, kind, in string
		want           []string
	}{
		{"sound", webapps, `spec: {image: nginx, ports: [{name: a, port: 80}, {name: b, port: http}], env: {A: b}, args: [[x], []], weight: 0.5}`,
			nil},
		{"sound zone", zones, `spec: {servers: [a, b]}`, nil},
		{"sound backup", backups, `spec: {keep: 4, note: null, since: "2026-01-02T03:04:05Z", share: 0.5}`, nil},
		{"free-form", blobs, `a: {b: [1]}`, nil},
		{"required", webapps, `spec: {}`, []string{"spec.image: is required", rulesSkipped}},
		{"required at the root", webapps, `status: {}`, []string{"spec: is required", rulesSkipped}},
		{"bounds", webapps, `spec: {image: nginx, replicas: 11, maxReplicas: 20}`, []string{"spec.replicas: must be ≤ 10 (is 11)"}},
		{"lower bound", webapps, `spec: {image: nginx, replicas: -1}`, []string{"spec.replicas: must be ≥ 0 (is -1)"}},
		{"length", webapps, `spec: {image: a}`, []string{"spec.image: must be at least 3 characters long"}},
		{"pattern", webapps, `spec: {image: HugeSecret}`, []string{"spec.image: must match ^[a-z0-9./:-]+$"}},
		{"enum", webapps, `spec: {image: nginx, tier: hugesecret}`, []string{`spec.tier: must be one of "small", "large"`, rulesSkipped}},
		{"types", webapps, `spec: {image: nginx, pause: "hugesecret", args: [x], env: {A: 1}, ports: [{name: a, port: true}]}`,
			[]string{
				"spec.args[0]: must be of type array, not string",
				"spec.env.A: must be of type string, not integer",
				"spec.pause: must be of type boolean, not string",
				"spec.ports[0].port: must be of type integer or string, not boolean",
				rulesSkipped,
			}},
		{"map keys", webapps, `spec: {image: nginx, ports: [{name: a}, {name: b}, {name: a}]}`, []string{"spec.ports[2]: occurs twice"}},
		{"set", zones, `spec: {servers: [hugesecret, hugesecret]}`, []string{"spec.servers[1]: occurs twice"}},
		{"many", webapps, `spec: {image: nginx, ports: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}]}`,
			[]string{"spec.ports: must have at most 5 items", rulesSkipped}},
		{"rule", webapps, `spec: {image: nginx, replicas: 5, maxReplicas: 3}`, []string{"spec: replicas must not exceed maxReplicas"}},
		{"rules of a scalar", backups, `spec: {keep: 3, password: "huge secret"}`,
			[]string{"spec.keep: keep must be even (is 3)", "spec.password: password must not hold blanks"}},
		{"computed message", backups, `spec: {region: "us-hugesecret"}`, []string{"spec.region: no such region: …"}},
		{"format", backups, `spec: {since: "hugesecret"}`, []string{"spec.since: must be of type date-time", rulesSkipped}},
		{"multiple", backups, `spec: {share: 0.3}`, []string{"spec.share: must be a multiple of 0.25 (is 0.3)"}},
		{"embedded", backups, `spec: {template: {kind: X, metadata: {name: "a/hugesecret", labels: {a: b}}}}`,
			[]string{"spec.template.apiVersion: is required", "spec.template.metadata.name: may not contain '/'", rulesSkipped}},
		{"embedded metadata", backups, `spec: {template: {apiVersion: v1, kind: X, metadata: {labels: {a: 1}}}}`,
			[]string{"spec.template.metadata: labels must hold strings: quote numbers, true and false"}},
		{"scale", webapps, `spec: {image: nginx}, status: {replicas: -1}`, []string{"status.replicas: must be ≥ 0 (is -1)"}},
		{"scale of another type", webapps, `spec: {image: nginx}, status: {replicas: many}`,
			[]string{"status.replicas: must be of type integer, not string", rulesSkipped}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := storage(t, tt.kind)
			obj := object(t, "{"+sound[tt.kind]+", "+tt.in+"}")
			apiserver.Default(v, obj)
			before := runtime.DeepCopyJSON(obj)
			got := described(apiserver.Validate(v, obj))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, any(obj)); diff != "" {
				t.Errorf("Validate changed the object:\n%s", diff)
			}
			if strings.Contains(strings.Join(got, "\n"), "secret") {
				t.Errorf("a value is shown: %q", got)
			}
		})
	}
}

func TestValidateHead(t *testing.T) {
	long := strings.Repeat("a", 21)
	tests := []struct {
		name, kind, in string
		want           []string // beginnings: the rest is Kubernetes' own wording
	}{
		{"another kind", webapps, `{apiVersion: v1, kind: Pod, metadata: {name: A}}`,
			[]string{"apiVersion: must be apps.example.com/v1", "kind: must be WebApp"}},
		{"none", webapps, `{}`, []string{"apiVersion: must be apps.example.com/v1", "kind: must be WebApp"}},
		{"no metadata", backups, `{apiVersion: data.example.com/v1, kind: Backup}`, []string{"metadata: is required", rulesSkipped}},
		{"name", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {name: A, namespace: "b/c"}}`,
			[]string{"metadata.name: a lowercase RFC 1123 subdomain", "metadata.namespace: a lowercase RFC 1123 label"}},
		{"no name", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {}}`,
			[]string{"metadata.name: is required", "metadata.namespace: is required", rulesSkipped}},
		{"generated name", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {generateName: a-, namespace: b}}`, nil},
		{"labels", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {name: a, namespace: b, labels: {a: "-hugesecret-"}}}`,
			[]string{"metadata.labels: a valid label must be"}},
		{"numeric label", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {name: a, namespace: b, labels: {a: 1}}}`,
			[]string{"metadata: labels must hold strings: quote numbers, true and false", rulesSkipped}},
		{"labels of another type", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {name: a, namespace: b, labels: [a]}}`,
			[]string{"metadata: labels must be a map", rulesSkipped}},
		{"time", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {name: a, namespace: b, creationTimestamp: hugesecret}}`,
			[]string{"metadata: a timestamp must be in RFC 3339 form", rulesSkipped}},
		{"metadata of another type", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: hugesecret}`,
			[]string{"metadata: must be an object with the fields of ObjectMeta", rulesSkipped}},
		{"namespace of a cluster resource", zones, `{apiVersion: net.example.com/v1, kind: Zone, metadata: {name: a, namespace: b}}`,
			[]string{"metadata.namespace: is forbidden: not allowed on this type"}},
		{"rule of the root", backups, `{apiVersion: data.example.com/v1, kind: Backup, metadata: {namespace: b, name: ` + long + `}}`,
			[]string{"the name must have at most 20 characters"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := described(apiserver.Validate(storage(t, tt.kind), object(t, tt.in)))
			begins := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			if diff := cmp.Diff(tt.want, got, begins); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(got, "\n"), "secret") {
				t.Errorf("a value is shown: %q", got)
			}
		})
	}
}

// TestValidateConcurrently: one version serves all workers at once, from its first validation on.
func TestValidateConcurrently(t *testing.T) {
	v := storage(t, webapps)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			obj := object(t, "{"+sound[webapps]+", spec: {image: nginx, maxReplicas: 3}}")
			obj["spec"].(map[string]any)["replicas"] = int64(i)
			apiserver.Default(v, obj)
			if got, refused := apiserver.Validate(v, obj), i > 3; (len(got) > 0) != refused {
				t.Errorf("%d replicas: %v", i, got)
			}
		})
	}
	group.Wait()
}

func BenchmarkValidate(b *testing.B) {
	v := storage(b, webapps)
	obj := object(b, "{"+sound[webapps]+", spec: {image: nginx, ports: [{name: a}]}}")
	for b.Loop() {
		apiserver.Default(v, obj)
		v.Prune(obj)
		if errs := apiserver.Validate(v, obj); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
