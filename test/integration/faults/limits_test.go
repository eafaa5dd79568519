package faults

import (
	"cmp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// pod is a child that a LimitRange and Pod Security may refuse.
const pod = `{{ if .spec.pod }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ .metadata.name }}
spec:
  containers:
  - name: web
    image: nginx
    resources:
      requests: {cpu: 100m}
      limits: {cpu: 100m}
{{ end }}
`

const wantPod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: web, image: nginx}]}}"

// TestPodRefused: a LimitRange, or Pod Security, refuses one child; the others
// are applied, nothing is pruned, status names the one and why, and it heals.
func TestPodRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forbid, allow func(*site)
		because       string
	}{
		"LimitRange": {
			func(s *site) {
				cluster.Apply(s, s.namespace,
					"{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, max: {cpu: 50m}}]}}")
			},
			func(s *site) { cluster.Delete(s, "v1", "LimitRange", s.namespace, "l") },
			"maximum cpu usage per Container is 50m",
		},
		"Pod Security": {
			func(s *site) { s.enforce("restricted") }, func(s *site) { s.enforce("privileged") }, "violates PodSecurity",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := build(t, map[string]string{"map.yaml": configMap, "service.yaml": service, "pod.yaml": pod})
			s.web("text: one, pod: false")
			s.ready()
			c.forbid(s)
			s.podIs("refused", apierrors.IsForbidden)
			s.web("text: two, pod: true")
			children := strings.Replace(wantConfigMap, "text: one", "text: two", 1) + parting + wantService
			s.rests(rest{children: children, because: "applying Pod " + s.namespace + "/a"})
			s.retriesAlone()
			if said := s.message(); !strings.Contains(said, c.because) {
				t.Errorf("it says %q, not %q", said, c.because)
			}
			c.allow(s)
			s.podIs("admitted", func(err error) bool { return err == nil })
			s.rests(rest{children: children + parting + wantPod})
		})
	}
}

// enforce sets the profile of Pod Security that the namespace enforces.
func (s *site) enforce(profile string) {
	s.Helper()
	ns := &corev1.Namespace{}
	ns.Name = s.namespace
	patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + profile + `"}}}`
	if err := cluster.Client.Patch(s.Context(), ns, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// podIs waits until admission judges a Pod so, by dry runs.
func (s *site) podIs(what string, so func(error) bool) {
	s.Helper()
	kit.Eventually(s, "a Pod is "+what, func() error {
		o := kit.Parse(s,
			"{apiVersion: v1, kind: Pod, metadata: {name: probe}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 100m}}}]}}")[0]
		o.SetNamespace(s.namespace)
		if err := cluster.Client.Create(s.Context(), o, client.DryRunAll); !so(err) {
			return cmp.Or(err, errNotYet)
		}
		return nil
	})
}
