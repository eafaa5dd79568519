package sweep

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// TestStays: what would be lost for good is never swept, nor a Secret of which
// nobody knows whether it would be.
func TestStays(t *testing.T) {
	draws := func(file string) bool { return file == "password" }
	for name, c := range map[string]struct {
		kind       string
		key, value string
		drawn      func(string) bool
		stays      bool
	}{
		"a ConfigMap":                   {kind: "ConfigMap"},
		"a ConfigMap of such a file":    {kind: "ConfigMap", key: api.AnnotationFile, value: "password", drawn: draws},
		"it says keep":                  {kind: "ConfigMap", key: api.AnnotationOnDelete, value: "keep", stays: true},
		"it holds data":                 {kind: "PersistentVolumeClaim", stays: true},
		"a Secret of a known file":      {kind: "Secret", key: api.AnnotationFile, value: "app", drawn: draws},
		"a Secret with drawn texts":     {kind: "Secret", key: api.AnnotationFile, value: "password", drawn: draws, stays: true},
		"a Secret that says so itself":  {kind: "Secret", key: api.AnnotationDrawn, value: "true", drawn: draws, stays: true},
		"a Secret without the folder":   {kind: "Secret", key: api.AnnotationFile, value: "app", stays: true},
		"a ConfigMap that says 'drawn'": {kind: "ConfigMap", key: api.AnnotationDrawn, value: "true"},
	} {
		o := Orphan{
			Resource: live.Resource{GVK: schema.GroupVersionKind{Version: "v1", Kind: c.kind}},
			Meta:     &metav1.ObjectMeta{Annotations: map[string]string{c.key: c.value}},
		}
		if why := o.Stays(c.drawn); (why != "") != c.stays {
			t.Errorf("%s: it stays because of %q, want %v", name, why, c.stays)
		}
	}
}
