package lint

import (
	"fmt"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A removal is how an API went from Kubernetes, by its own guide of deprecated
// APIs: https://kubernetes.io/docs/reference/using-api/deprecation-guide/.
type removal struct {
	apiVersion string
	kinds      []string // all of them, if empty
	release    string
	use        string // "": there is none
}

// removals are the APIs that a Kubernetes of today does not serve.
var removals = []removal{
	{"extensions/v1beta1", []string{"Ingress"}, "1.22", "networking.k8s.io/v1"},
	{"extensions/v1beta1", []string{"NetworkPolicy"}, "1.16", "networking.k8s.io/v1"},
	{"extensions/v1beta1", []string{"PodSecurityPolicy"}, "1.16", ""},
	{"extensions/v1beta1", nil, "1.16", "apps/v1"},
	{"apps/v1beta1", nil, "1.16", "apps/v1"},
	{"apps/v1beta2", nil, "1.16", "apps/v1"},
	{"networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}, "1.22", "networking.k8s.io/v1"},
	{"rbac.authorization.k8s.io/v1alpha1", nil, "1.23", "rbac.authorization.k8s.io/v1"},
	{"rbac.authorization.k8s.io/v1beta1", nil, "1.22", "rbac.authorization.k8s.io/v1"},
	{"apiextensions.k8s.io/v1beta1", nil, "1.22", "apiextensions.k8s.io/v1"},
	{"apiregistration.k8s.io/v1beta1", nil, "1.22", "apiregistration.k8s.io/v1"},
	{"admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}, "1.22",
		"admissionregistration.k8s.io/v1"},
	{"coordination.k8s.io/v1beta1", []string{"Lease"}, "1.22", "coordination.k8s.io/v1"},
	{"scheduling.k8s.io/v1beta1", []string{"PriorityClass"}, "1.22", "scheduling.k8s.io/v1"},
	{"storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}, "1.22", "storage.k8s.io/v1"},
	{"storage.k8s.io/v1beta1", []string{"CSIStorageCapacity"}, "1.27", "storage.k8s.io/v1"},
	{"certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}, "1.22", "certificates.k8s.io/v1"},
	{"batch/v1beta1", []string{"CronJob"}, "1.25", "batch/v1"},
	{"batch/v2alpha1", []string{"CronJob"}, "1.21", "batch/v1"},
	{"discovery.k8s.io/v1beta1", []string{"EndpointSlice"}, "1.25", "discovery.k8s.io/v1"},
	{"events.k8s.io/v1beta1", []string{"Event"}, "1.25", "events.k8s.io/v1"},
	{"node.k8s.io/v1beta1", []string{"RuntimeClass"}, "1.25", "node.k8s.io/v1"},
	{"policy/v1beta1", []string{"PodDisruptionBudget"}, "1.25", "policy/v1"},
	{"policy/v1beta1", []string{"PodSecurityPolicy"}, "1.25", ""},
	{"autoscaling/v2beta1", nil, "1.25", "autoscaling/v2"},
	{"autoscaling/v2beta2", nil, "1.26", "autoscaling/v2"},
	{"flowcontrol.apiserver.k8s.io/v1beta1", nil, "1.26", "flowcontrol.apiserver.k8s.io/v1"},
	{"flowcontrol.apiserver.k8s.io/v1beta2", nil, "1.29", "flowcontrol.apiserver.k8s.io/v1"},
	{"flowcontrol.apiserver.k8s.io/v1beta3", nil, "1.32", "flowcontrol.apiserver.k8s.io/v1"},
}

// checkRemovedAPI finds a document whose API was removed from Kubernetes. A template that queries
// the API by hasAPI handles that itself.
func (l *linter) checkRemovedAPI(d *document) {
	apiVersion := d.gvk.GroupVersion().String()
	i := removalOf(d.gvk)
	if i < 0 || l.callsHasAPI(apiVersion, d.gvk.Kind) {
		return
	}
	text := fmt.Sprintf("the %s of %s was removed in Kubernetes %s", d.gvk.Kind, apiVersion, removals[i].release)
	if use := removals[i].use; use != "" {
		text += "; use " + use
	}
	l.add(RemovedAPI, entryOf(d.root, "apiVersion").Place, text)
}

// removalOf is the index of the removal of a kind, -1 if there is none.
func removalOf(gvk apischema.GroupVersionKind) int {
	return slices.IndexFunc(removals, func(r removal) bool {
		return r.apiVersion == gvk.GroupVersion().String() && (len(r.kinds) == 0 || slices.Contains(r.kinds, gvk.Kind))
	})
}

// callsHasAPI reports whether a template queries an API by hasAPI.
func (l *linter) callsHasAPI(apiVersion, kind string) bool {
	return slices.ContainsFunc(l.kind.Asks, func(a template.Ask) bool {
		return a.Function == "hasAPI" && slices.Equal(a.Args, []string{apiVersion, kind})
	})
}
