package adopt

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTool: Helm's, Flux's and Argo CD's notes on an object name what would delete it.
func TestTool(t *testing.T) {
	for want, o := range map[string]metav1.ObjectMeta{
		"": {Labels: map[string]string{"app.kubernetes.io/managed-by": "somebody"}},
		"Helm release shops/north": {Annotations: map[string]string{
			"meta.helm.sh/release-name": "north", "meta.helm.sh/release-namespace": "shops"}},
		"Kustomization flux-system/shops": {Labels: map[string]string{
			"kustomize.toolkit.fluxcd.io/name": "shops", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}},
		"HelmRelease flux-system/north": {
			Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "north", "helm.toolkit.fluxcd.io/namespace": "flux-system"},
			Annotations: map[string]string{
				"meta.helm.sh/release-name": "north", "meta.helm.sh/release-namespace": "shops"}},
		"Argo CD's Application shops": {Annotations: map[string]string{
			"argocd.argoproj.io/tracking-id": "shops:apps/Deployment:shops/north"}},
	} {
		if got := findTool(&o); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
