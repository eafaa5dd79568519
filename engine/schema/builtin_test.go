package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestBuiltInIsTheClientsList(t *testing.T) {
	object := reflect.TypeFor[metav1.ObjectMetaAccessor]()
	want, got := map[string][]string{}, map[string][]string{}
	for gvk, kind := range scheme.Scheme.AllKnownTypes() {
		if gv := gvk.GroupVersion(); gv.Version != runtime.APIVersionInternal && reflect.PointerTo(kind).Implements(object) {
			want[gv.String()] = append(want[gv.String()], gvk.Kind)
		}
	}
	for _, kinds := range want {
		slices.Sort(kinds)
	}
	for gv, kinds := range builtIn {
		got[gv] = strings.Fields(kinds)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("builtIn differs from the client's scheme (-scheme +builtIn):\n%s", diff)
	}
}

func TestMisplaced(t *testing.T) {
	for gvk, want := range map[[2]string]string{
		{"v1", "Deployment"}:                         "Deployment is in apps/v1, not in v1",
		{"apps/v1", "Ingress"}:                       "Ingress is in networking.k8s.io/v1, not in apps/v1",
		{"v1", "ConfigMapp"}:                         "v1 has no kind ConfigMapp; did you mean ConfigMap?",
		{"apps/v1", "deployment"}:                    "apps/v1 has no kind deployment; did you mean Deployment?",
		{"coordination.k8s.io/v1", "LeaseCandidate"}: "",
		{"v1", "ConfigMap"}:                          "",
		{"apps/v1", "Deployment"}:                    "",
		{"v1", "SomethingQuiteNew"}:                  "",
		{"apps/v9", "Deployment"}:                    "",
		{"example.com/v1", "Deployment"}:             "",
	} {
		gv, _ := apischema.ParseGroupVersion(gvk[0])
		if got := Misplaced(gv.WithKind(gvk[1])); got != want {
			t.Errorf("%v: %q, want %q", gvk, got, want)
		}
	}
}
