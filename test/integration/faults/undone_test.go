package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A switched is a child in two variants, and its fields that no two objects share.
type switched struct {
	kind, spec string
	a, b       string
}

// switchedChildren are unions of built-in kinds, and defaults that outlive what caused
// them. A and B stand in the spec for the text VARIANT.
var switchedChildren = map[string]switched{
	"affinity":   {"v1 Service", "{selector: {app: x}, ports: [{port: 80}], VARIANT}", "sessionAffinity: ClientIP", "sessionAffinity: None"},
	"balancer":   {"v1 Service", "{selector: {app: x}, ports: [{name: http, port: 80}], VARIANT}", "type: LoadBalancer, externalTrafficPolicy: Local", "type: ClusterIP"},
	"budget":     {"policy/v1 PodDisruptionBudget", "{selector: {matchLabels: {app: x}}, VARIANT}", "minAvailable: 1", "maxUnavailable: 1"},
	"daemons":    {"apps/v1 DaemonSet", workload("", ""), "", "updateStrategy: {type: OnDelete}"},
	"env":        {"apps/v1 Deployment", workload("env: [{name: WHO, VARIANT}]", ""), "value: me", "valueFrom: {fieldRef: {fieldPath: metadata.name}}"},
	"external":   {"v1 Service", "{VARIANT}", "selector: {app: x}, ports: [{port: 80}]", "type: ExternalName, externalName: db.example.com"},
	"headless":   {"v1 Service", "{selector: {app: x}, ports: [{port: 80}], VARIANT}", "clusterIP: None", ""},
	"hostnet":    {"apps/v1 Deployment", workload("ports: [{containerPort: 8080}]", "VARIANT"), "hostNetwork: true", ""},
	"hostpath":   {"apps/v1 Deployment", workload("", "volumes: [{name: data, VARIANT}]"), "hostPath: {path: /tmp}", "secret: {secretName: some}"},
	"ingress":    {"networking.k8s.io/v1 Ingress", "{defaultBackend: {service: {name: some, port: {VARIANT}}}}", "number: 80", "name: http"},
	"policy":     {"networking.k8s.io/v1 NetworkPolicy", "{podSelector: {matchLabels: {app: x}}, ingress: [{}], VARIANT}", "", "egress: [{}]"},
	"probe":      {"apps/v1 Deployment", workload("livenessProbe: {VARIANT}", ""), "httpGet: {path: /, port: 80}", "tcpSocket: {port: 80}"},
	"projected":  {"apps/v1 Deployment", workload("", "volumes: [{name: data, VARIANT}]"), "projected: {sources: [{secret: {name: some}}]}", "downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}"},
	"scaler":     {"autoscaling/v2 HorizontalPodAutoscaler", "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: some}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {VARIANT}}}]}", "type: Utilization, averageUtilization: 70", "type: AverageValue, averageValue: 500m"},
	"sets":       {"apps/v1 StatefulSet", workload("", ""), "", "updateStrategy: {type: OnDelete}"},
	"strategy":   {"apps/v1 Deployment", workload("", ""), "", "strategy: {type: Recreate}"},
	"sourceless": {"apps/v1 Deployment", workload("", "volumes: [{name: data, VARIANT}]"), "", "configMap: {name: some}"},
	"volume":     {"apps/v1 Deployment", workload("volumeMounts: [{name: data, mountPath: /data}]", "volumes: [{name: data, VARIANT}]"), "emptyDir: {}", "configMap: {name: some}"},
}

// workload is the spec of a workload, with fields of its container and of its Pod. Without
// VARIANT in them, that is a field of the spec.
func workload(container, pod string) string {
	variant := "VARIANT"
	if strings.Contains(container+pod, variant) {
		variant = ""
	}
	return "{" + variant + ", replicas: 0, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {" + pod +
		", nodeSelector: {never: 'true'}, containers: [{name: main, image: nginx, " + container + "}]}}}"
}

// document is the child of a resource, in the variant that its spec says.
func (c switched) document(name string) string {
	apiVersion, kind, _ := strings.Cut(c.kind, " ")
	spec := c.spec
	if kind == "DaemonSet" {
		spec = strings.Replace(spec, "replicas: 0, ", "", 1)
	}
	if kind == "StatefulSet" {
		spec = strings.Replace(spec, "replicas: 0, ", "replicas: 0, serviceName: none, ", 1)
	}
	in := func(variant string) string {
		text := strings.Replace(spec, "VARIANT", variant, 1)
		for _, fix := range [][2]string{{"{, ", "{"}, {", , ", ", "}, {", }", "}"}, {"{, ", "{"}} {
			text = strings.ReplaceAll(text, fix[0], fix[1])
		}
		return text
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: \"{{ .metadata.name }}-%s\"}\n{{- if eq .spec.variant \"a\" }}\nspec: %s\n{{- else }}\nspec: %s\n{{- end }}\n",
		apiVersion, kind, name, in(c.a), in(c.b))
}

// TestUnions: a child whose template changes to another variant becomes what a new object
// of that variant is, and back, and is never recreated.
func TestUnions(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, c := range switchedChildren {
		files[name+".yaml"] = c.document(name)
	}
	s := build(t, files)
	s.web("variant: a")
	uids := map[string]any{}
	for name, c := range switchedChildren {
		kit.Eventually(t, name+" is there", func() error {
			o, err := s.switched("a", name, c)
			if err == nil {
				uids[name] = o.GetUID()
			}
			return err
		})
	}
	for _, variant := range []string{"b", "a"} {
		s.web("variant: " + variant)
		fresh := "fresh-" + variant
		cluster.Apply(t, s.namespace, fmt.Sprintf("apiVersion: %s\nkind: Web\nmetadata: {name: %s}\nspec: {variant: %s}\n", s.apiVersion(), fresh, variant))
		for _, name := range slices.Sorted(maps.Keys(switchedChildren)) {
			kit.Eventually(t, name+" is as a new one", func() error {
				got, err := s.switched("a", name, switchedChildren[name])
				if err != nil {
					return err
				}
				want, err := s.switched(fresh, name, switchedChildren[name])
				if err != nil {
					return err
				}
				if got.GetUID() != uids[name] {
					t.Fatalf("%s was recreated", name)
				}
				if err := within(withoutAllocated(want), withoutAllocated(got), ""); err != nil {
					return err
				}
				return within(withoutAllocated(got), withoutAllocated(want), "")
			})
		}
		if o := s.owner(); kit.IsCondition(o, "Stalled", "True", "") == nil {
			t.Errorf("it is stalled: %v", s.message())
		}
	}
}

func (s *site) switched(owner, name string, c switched) (*unstructured.Unstructured, error) {
	apiVersion, kind, _ := strings.Cut(c.kind, " ")
	return cluster.Get(apiVersion, kind, s.namespace, owner+"-"+name)
}

// withoutAllocated returns the spec of an object without what the API server allocates.
func withoutAllocated(o *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	delete(spec, "healthCheckNodePort")
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		if v := spec[field]; v != nil && v != "None" && fmt.Sprint(v) != "[None]" {
			spec[field] = "an address"
		}
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port := p.(map[string]any); port["nodePort"] != nil {
			port["nodePort"] = "a port"
		}
	}
	return spec
}

// TestFieldOfEarlierWriter: a field goes with the template that had it, although an Update
// under our name owns it, too: that is how a write which was cut short leaves it.
func TestFieldOfEarlierWriter(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {{ toJson .spec.data }}\n"})
	s.web("data: {kept: text}")
	s.ready()
	pause := `{"metadata":{"annotations":{"jacquard.dev/paused":%s}}}`
	s.patch(s.apiVersion(), "Web", "a", "somebody", fmt.Sprintf(pause, `"true"`))
	s.is("Paused", "True", "")
	s.patch("v1", "ConfigMap", "a", api.FieldManager, `{"data":{"more":"text"}}`)
	s.patch("v1", "ConfigMap", "a", "somebody", `{"data":{"own":"text"}}`)
	s.web("data: {kept: changed}")
	s.patch(s.apiVersion(), "Web", "a", "somebody", fmt.Sprintf(pause, "null"))
	s.says("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {kept: changed, own: text}}")
	if data := s.get("v1", "ConfigMap", "a").Object["data"].(map[string]any); data["more"] != nil {
		t.Errorf("data is %v", data)
	}
}

// TestUnionThatSomebodyOwns: a field of another branch that somebody set is not taken
// away; the message names it and who set it.
func TestUnionThatSomebodyOwns(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"deployment.yaml": strings.ReplaceAll(switchedChildren["strategy"].document("x"), "-x", "")})
	s.web("variant: a")
	s.ready()
	s.patch("apps/v1", "Deployment", "a", "kubectl-edit", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}`)
	s.web("variant: b")
	s.is("Stalled", "True", "spec.strategy.rollingUpdate")
	s.is("Stalled", "True", "kubectl-edit")
	s.patch("apps/v1", "Deployment", "a", "kubectl-edit", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"25%"}}}}`)
	s.says("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {strategy: {rollingUpdate: {maxSurge: 25%}}}}")
}

// TestAtomicLists: an edited entry of a list without keys is undone with its list.
func TestAtomicLists(t *testing.T) {
	t.Parallel()
	lists := map[string]struct{ kind, spec, at, edited string }{
		"ingress": {"networking.k8s.io/v1 Ingress", "{rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}",
			"/spec/rules/0/http/paths/0/path", `"/other"`},
		"policy": {"networking.k8s.io/v1 NetworkPolicy", "{podSelector: {}, policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]}", "/spec/ingress/0/ports/0/port", "81"},
		"budget": {"policy/v1 PodDisruptionBudget", "{minAvailable: 1, selector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}", "/spec/selector/matchExpressions/0/key", `"c"`},
		"scaler": {"autoscaling/v2 HorizontalPodAutoscaler", "{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]}",
			"/spec/metrics/0/resource/name", `"memory"`},
	}
	files := map[string]string{}
	for name, c := range lists {
		apiVersion, kind, _ := strings.Cut(c.kind, " ")
		files[name+".yaml"] = fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\nspec: %s\n", apiVersion, kind, name, c.spec)
	}
	s := build(t, files)
	s.web("")
	for name, c := range lists {
		apiVersion, kind, _ := strings.Cut(c.kind, " ")
		var want map[string]any
		kit.Eventually(t, name+" is there", func() error {
			o, err := cluster.Get(apiVersion, kind, s.namespace, name)
			if err == nil {
				want = withoutAllocated(o)
			}
			return err
		})
		s.patch(apiVersion, kind, name, "kubectl-edit", fmt.Sprintf(`[{"op":"replace","path":%q,"value":%s}]`, c.at, c.edited))
		kit.Eventually(t, name+" is as rendered", func() error {
			o, err := cluster.Get(apiVersion, kind, s.namespace, name)
			if err != nil {
				return err
			}
			return within(want, withoutAllocated(o), "")
		})
	}
}

// TestAdoptedWithOwners: an object that the annotation adopts loses its earlier managers'
// hold on what is rendered: a later change of a port takes effect, and a key that is
// rendered no more goes. What is not rendered stays.
func TestAdoptedWithOwners(t *testing.T) {
	t.Parallel()
	const adopted = "  annotations:\n    jacquard.dev/adopt: \"true\"\n"
	s := build(t, map[string]string{
		"service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .metadata.name }}\n" + adopted +
			"spec:\n  selector: {app: x}\n  ports:\n  - {name: http, port: {{ .spec.port }}, protocol: TCP}\n",
		"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n" + adopted +
			"data:\n  one: x\n  {{- if .spec.two }}\n  two: x\n  {{- end }}\n",
	})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: x}, ports: [{name: http, port: 79}, {name: theirs, port: 9}]}}\n---\n"+
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {one: x, two: x, theirs: x}}")
	s.web("port: 80, two: true")
	s.ready()
	s.ports("http 80 theirs 9")
	s.web("port: 81")
	s.ports("http 81 theirs 9")
	s.ready()
	kit.Eventually(t, "the key that is rendered no more goes", func() error {
		o, err := cluster.Get("v1", "ConfigMap", s.namespace, "a")
		if err != nil {
			return err
		}
		if got := fmt.Sprint(o.Object["data"]); got != "map[one:x theirs:x]" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
}

// ports waits until the Service has these ports, sorted by name.
func (s *site) ports(want string) {
	s.Helper()
	kit.Eventually(s, "the ports are "+want, func() error {
		o, err := cluster.Get("v1", "Service", s.namespace, "a")
		if err != nil {
			return err
		}
		ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
		var got []string
		for _, p := range ports {
			got = append(got, fmt.Sprint(p.(map[string]any)["name"], " ", p.(map[string]any)["port"]))
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
}

// TestRecreatedKeepsInitial: what is recreated has the live values of its initial fields; a
// StatefulSet keeps its Pods. One that somebody deleted has the rendered values.
func TestRecreatedKeepsInitial(t *testing.T) {
	t.Parallel()
	const spec = "spec:\n  replicas: 1\n  selector: {matchLabels: {app: {{ .metadata.name }}KIND}}\n  template:\n    metadata: {labels: {app: {{ .metadata.name }}KINDLABEL}}\n    spec: {containers: [{name: main, image: nginx}]}\n"
	of := func(kind, label string) string {
		return strings.NewReplacer("KINDLABEL", kind+label, "KIND", kind).Replace(spec)
	}
	const marks = "  annotations:\n    jacquard.dev/initial-fields: spec.replicas\n    jacquard.dev/on-immutable: recreate"
	s := build(t, map[string]string{
		"deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .metadata.name }}\n" + marks + "\n" +
			strings.Replace(of("-d", ", tier: {{ .spec.tier }}"), "matchLabels: {", "matchLabels: {tier: {{ .spec.tier }}, ", 1),
		"set.yaml": "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: {{ .metadata.name }}\n" + marks + "-keeping-dependents\n" +
			strings.Replace(of("-s", ""), "spec:\n", "spec:\n  podManagementPolicy: Parallel\n  serviceName: {{ .spec.tier }}\n", 1),
	})
	s.web("tier: one")
	s.ready()
	scale := func(kind string, n int) {
		s.patch("apps/v1", kind, "a", "kubectl", fmt.Sprintf(`{"spec":{"replicas":%d}}`, n), "scale")
	}
	scale("Deployment", 7)
	scale("StatefulSet", 5)
	s.says("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, status: {readyReplicas: 5}}")
	before := s.get("apps/v1", "StatefulSet", "a").GetUID()
	var pods []types.UID
	for i := range 5 {
		pods = append(pods, s.get("v1", "Pod", fmt.Sprintf("a-%d", i)).GetUID())
	}
	s.web("tier: two")
	s.says("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 7, selector: {matchLabels: {tier: two}}}}\n---\n" +
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {replicas: 5, serviceName: two}}")
	if s.get("apps/v1", "StatefulSet", "a").GetUID() == before {
		t.Error("it was not recreated")
	}
	scale("Deployment", 3)
	cluster.Delete(t, "apps/v1", "Deployment", s.namespace, "a")
	s.says("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1}}")
	s.ready()
	for i, uid := range pods {
		if s.get("v1", "Pod", fmt.Sprintf("a-%d", i)).GetUID() != uid {
			t.Errorf("Pod a-%d is another one", i)
		}
	}
}
