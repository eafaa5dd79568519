// Package load has the workload of the benchmark: the custom resources, the
// children expected of them, the raw client and the observer of the children.
package load

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// Images before and after the update phase, and the replicas every App asks for.
const (
	ImageV1  = "registry.local/team/app:1.0"
	ImageV2  = "registry.local/team/app:2.0"
	Replicas = 2
)

//go:embed app.yaml.tmpl
var defaultTemplate string

// AppCRD is the CRD of the App kind, as YAML.
//
//go:embed crd.yaml
var AppCRD []byte

// Key names an App and, by convention, its two children.
type Key struct{ Namespace, Name string }

// Keys are n Apps spread over ten namespaces that start with the prefix.
func Keys(prefix string, n int) []Key {
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = Key{Namespace: fmt.Sprintf("%s-%d", prefix, i%10), Name: fmt.Sprintf("app-%04d", i)}
	}
	return keys
}

// Namespaces are the namespaces of the keys.
func Namespaces(keys []Key) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range keys {
		if !seen[k.Namespace] {
			seen[k.Namespace] = true
			out = append(out, k.Namespace)
		}
	}
	return out
}

// Template renders custom resources.
type Template struct {
	tmpl *template.Template
}

// ParseTemplate reads a text/template of a custom resource in YAML; it may use
// .Name, .Namespace, .Image and .Replicas. An empty text stands for the App of
// the harness's own CRD.
func ParseTemplate(text string) (*Template, error) {
	if text == "" {
		text = defaultTemplate
	}
	t, err := template.New("cr").Option("missingkey=error").Parse(text)
	return &Template{t}, err
}

// Render returns the custom resource of the key as JSON.
func (t *Template) Render(k Key) ([]byte, error) {
	var buf bytes.Buffer
	err := t.tmpl.Execute(&buf, map[string]any{
		"Name": k.Name, "Namespace": k.Namespace, "Image": ImageV1, "Replicas": Replicas,
	})
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(buf.Bytes())
}

// Object is the custom resource of the key as an object.
func (t *Template) Object(k Key) (*unstructured.Unstructured, error) {
	raw, err := t.Render(k)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(raw)
}

// Documents splits a multi-document YAML text into objects.
func Documents(text []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq("\n"+string(text), "\n---") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, err
		}
		if string(raw) == "null" {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw); err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// RawDeployment is the Deployment that the default App asks for, as JSON.
func RawDeployment(k Key, image string) []byte {
	labels := map[string]string{"app.kubernetes.io/name": k.Name}
	replicas := int32(Replicas)
	return mustJSON(&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:  "app",
					Image: image,
					Env:   []corev1.EnvVar{{Name: "DEMO", Value: "app"}, {Name: "GOPATH", Value: "gopath"}},
					Ports: []corev1.ContainerPort{
						{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP},
						{Name: "metrics", ContainerPort: 9090, Protocol: corev1.ProtocolTCP},
					},
					Resources: corev1.ResourceRequirements{
						Limits:   resourceList("500m", "500Mi"),
						Requests: resourceList("100m", "100Mi"),
					},
				}}},
			},
		},
	})
}

// RawService is the Service that the default App asks for, as JSON.
func RawService(k Key) []byte {
	labels := map[string]string{"app.kubernetes.io/name": k.Name}
	return mustJSON(&corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Labels: labels},
		Spec: corev1.ServiceSpec{
			Selector: labels,
			Ports: []corev1.ServicePort{
				{Name: "http", Port: 8080, TargetPort: intstr.FromInt32(80), Protocol: corev1.ProtocolTCP},
				{Name: "metrics", Port: 9090, TargetPort: intstr.FromInt32(9090), Protocol: corev1.ProtocolTCP},
			},
		},
	})
}

// resourceList returns an amount of CPU and memory.
func resourceList(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // only for types that can't be marshalled
	}
	return raw
}
