package render_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// resources make the i-th resource of each shipped kind: other values and other
// branches, as an API server would show it, defaults filled in.
var resources = map[string]func(i int) *unstructured.Unstructured{
	"apps.app.huolala.cn": app,
	"foos.samplecontroller.k8s.io": func(i int) *unstructured.Unstructured {
		return ofTeam("samplecontroller.k8s.io/v1alpha1", "Foo", i, map[string]any{
			"deploymentName": fmt.Sprintf("deployment-%d", i), "replicas": int64(1 + i%10),
		})
	},
	"genericdaemons.mydomain.com": func(i int) *unstructured.Unstructured {
		spec := map[string]any{"image": fmt.Sprintf("registry.example.com/team-%d/daemon:1.%d", i%13, i)}
		if i%3 > 0 {
			spec["label"] = fmt.Sprintf("pool-%d", i%7)
		}
		return ofTeam("mydomain.com/v1beta1", "Genericdaemon", i, spec)
	},
	"milvuses.zilliz.com": func(i int) *unstructured.Unstructured {
		spec := map[string]any{"image": fmt.Sprintf("milvusdb/milvus:2.%d", i), "replicas": int64(1 + i%3)}
		if i%2 > 0 {
			spec["milvusSpec"] = fmt.Sprintf("text %d: of several words", i)
		}
		return ofTeam("zilliz.com/v1", "Milvus", i, spec)
	},
	"podroutes.quay.io": func(i int) *unstructured.Unstructured {
		name := "pod-route"
		if i%2 > 0 {
			name = fmt.Sprintf("web-%d", i)
		}
		return ofTeam("quay.io/v1alpha1", "Podroute", i, map[string]any{
			"name": name, "replicas": int64(i % 5), "image": fmt.Sprintf("quay.io/example/always200:1.%d", i),
		})
	},
	"prometheusjmxexporters.banzaicloud.com": func(i int) *unstructured.Unstructured {
		return ofTeam("banzaicloud.com/v1alpha1", "PrometheusJmxExporter", i, map[string]any{
			"labelSelector": map[string]any{"app": fmt.Sprintf("java-%d", i%groups)}, "port": int64(9000 + i),
			"config": map[string]any{"configMapName": "exporter", "configMapKey": "config.yaml"},
		})
	},
}

// ofTeam is one of a team's.
func ofTeam(apiVersion, kind string, i int, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{
			"name": fmt.Sprintf("app-%d", i), "namespace": "team",
			"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "generation": int64(1 + i%9),
		},
		"spec": spec,
	}}
}

// groups are how many groups of Pods there are.
const groups = 5

// beside is what stands in the cluster beside the resources: Pods, of which each
// group has one that is new and one that is served already.
func beside() []*catalog.Object {
	metadata := func(name string) map[string]any { return map[string]any{"name": name, "namespace": "team"} }
	all := []*catalog.Object{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("exporter"), "data": map[string]any{"config.yaml": "rules: []\n"},
	}}}
	for i := range 2 * groups {
		m := metadata(fmt.Sprintf("java-%d", i))
		m["labels"] = map[string]any{"app": fmt.Sprintf("java-%d", i%groups)}
		spec := map[string]any{"containers": []any{map[string]any{
			"name": "java", "image": "tomcat:9", "ports": []any{map[string]any{"containerPort": int64(8080)}},
			"securityContext": map[string]any{"runAsUser": int64(1000 + i)},
		}}}
		if i < groups {
			spec["ephemeralContainers"] = []any{map[string]any{
				"name": "jmx-exporter", "image": "loader:1", "targetContainerName": "java",
				"env": []any{
					map[string]any{"name": "JMX_EXPORTER_PORT", "value": "9400"},
					map[string]any{"name": "JMX_EXPORTER_CONFIG", "valueFrom": map[string]any{
						"configMapKeyRef": map[string]any{"name": "exporter", "key": "config.yaml"}}},
					map[string]any{"name": "JMX_EXPORTER_OWNER", "value": fmt.Sprintf("app-%d", i)},
				},
			}}
		}
		all = append(all, &catalog.Object{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": m, "spec": spec, "status": map[string]any{"phase": "Running"},
		}})
	}
	return all
}

// app is the i-th resource: other values and other branches, as an API server
// would show it, defaults filled in.
func app(i int) *unstructured.Unstructured {
	spec := map[string]any{
		"replicas": int64(i % 11),
		"image":    fmt.Sprintf("registry.example.com/team-%d/web:1.%d", i%13, i),
	}
	if ports := appPorts(i); ports != nil {
		spec["ports"] = ports
	}
	var envs []any
	for n := range i / 2 % 4 {
		envs = append(envs, map[string]any{"name": fmt.Sprintf("SETTING_%d", n), "value": fmt.Sprintf("value %d of %d", n, i)})
	}
	if i%5 == 1 {
		envs = append(envs, map[string]any{"name": "PASSWORD", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": fmt.Sprintf("secret-%d", i), "key": "password"}}})
	}
	if envs != nil {
		spec["envs"] = envs
	}
	limits := map[string]any{"cpu": fmt.Sprintf("%dm", 100+i), "memory": fmt.Sprintf("%dMi", 64+i)}
	switch i % 3 {
	case 1:
		spec["resources"] = map[string]any{"limits": limits}
	case 2:
		spec["resources"] = map[string]any{"limits": limits, "requests": map[string]any{"cpu": "100m", "memory": "64Mi"}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "app.huolala.cn/v1", "kind": "App",
		"metadata": map[string]any{
			"name": fmt.Sprintf("app-%d", i), "namespace": fmt.Sprintf("team-%d", i%13),
			"uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "generation": int64(1 + i%9),
		},
		"spec": spec,
	}}
}

// appPorts are no ports, one, or several.
func appPorts(i int) []any {
	web := map[string]any{"name": "web", "port": int64(8000 + i%500), "protocol": "TCP", "targetPort": int64(80 + i%7)}
	switch i % 4 {
	case 1:
		return []any{web}
	case 2:
		return []any{web, map[string]any{"name": "dns", "port": int64(53), "protocol": "UDP"}}
	case 3:
		return []any{web,
			map[string]any{"name": "metrics", "port": int64(9090), "protocol": "TCP", "targetPort": "metrics"},
			map[string]any{"name": "again", "port": int64(9091 + i%100), "protocol": "TCP", "targetPort": int64(9090)}}
	}
	return nil
}
