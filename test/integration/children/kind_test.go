package children

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// crd is a kind Web in a group of its own.
func crd(group string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.%[1]s}
spec:
  group: %[1]s
  names: {kind: Web, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, default: 1}
              text: {type: string, default: hello}
              image: {type: string, default: nginx}
          status:
            type: object
            properties:
              available: {type: integer}
`+kit.StatusFields, group)
}

// folderOf is a folder with four kinds of children: a Deployment, a Service, a
// ConfigMap and a Secret.
var folderOf = map[string]string{
	"deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .metadata.name }}
spec:
  replicas: {{ .spec.replicas }}
  selector:
    matchLabels:
      app: {{ .metadata.name }}
  template:
    metadata:
      labels:
        app: {{ .metadata.name }}
    spec:
      containers:
      - name: web
        image: {{ .spec.image }}
        ports:
        - containerPort: 80
`,
	"service.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  selector:
    app: {{ .metadata.name }}
  ports:
  - port: 80
`,
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text }}
`,
	"secret.yaml": `apiVersion: v1
kind: Secret
metadata:
  name: {{ .metadata.name }}
stringData:
  text: {{ .spec.text }}
`,
	"status.yaml": "available: {{ (child \"deployment\").status.availableReplicas | ifNil 0 }}\n",
}

const children = 4

// root writes a root with the kind Web of a group; names leave files out.
func root(t *testing.T, group string, without ...string) string {
	dir := t.TempDir()
	files := map[string]string{"crds/webs." + group + ".yaml": crd(group)}
	for name, text := range folderOf {
		if !slices.Contains(without, name) {
			files["templates/webs."+group+"/"+name] = text
		}
	}
	kit.Write(t, dir, files)
	return dir
}

func install(o *controller.Options) { o.InstallCRDs = true }

func web(group, namespace, name, spec string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Web\nmetadata: {name: %s, namespace: %s}\nspec: {%s}\n", group, name, namespace, spec)
}

func ready(t *testing.T, group, namespace string, names ...string) {
	t.Helper()
	for _, name := range names {
		kit.Eventually(t, name+" is Ready", func() error { return cluster.Ready(group+"/v1", "Web", namespace, name) })
	}
}

// statuses counts the statuses that a resource had, by watching it.
func statuses(t *testing.T, group, namespace, name string) func() int {
	t.Helper()
	w, err := client.NewWithWatch(cluster.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/v1")
	list.SetKind("WebList")
	watch, err := w.Watch(context.Background(), list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			if o, ok := e.Object.(*unstructured.Unstructured); ok && o.GetName() == name && o.Object["status"] != nil {
				seen[fmt.Sprint(o.Object["status"])] = true
			}
		}
	}()
	return func() int { watch.Stop(); <-done; return len(seen) }
}

func report(t *testing.T, what string, requests []kit.Request) {
	t.Helper()
	t.Logf("%s: %d requests %v", what, len(requests), kit.Tally(requests))
}
