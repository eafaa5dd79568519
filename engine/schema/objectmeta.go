package schema

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// objectMeta returns the type of metadata: name, namespace, uid, labels and all
// other fields that Kubernetes keeps about every object.
func objectMeta() *Type { return reflectType(metaType, nil) }

var metaType = reflect.TypeFor[metav1.ObjectMeta]()

// boundMeta says of ObjectMeta what its Go type does not.
func (t *Type) boundMeta() {
	t.required, t.given = nil, nil // an author may leave out what the cluster fills in
	t.fields["name"] = textType(validation.DNS1123SubdomainMaxLength)
	t.fields["namespace"] = textType(validation.DNS1123LabelMaxLength)
	t.fields["uid"] = textType(len("00000000-0000-0000-0000-000000000000"))
	t.fields["labels"] = MapOf(textType(validation.LabelValueMaxLength))
}

// textType returns the type of texts of at most so many characters.
func textType(longest int) *Type {
	most := int64(longest)
	return &Type{kind: KindString, bounds: bounds{longest: &most}}
}

// Shown are the fields of a resource's metadata that a template sees. The rest
// belongs to the cluster, and changes without the resource's author.
var Shown = []string{"name", "namespace", "uid", "generation", "labels", "annotations"}

// shownMeta is ObjectMeta as far as a template sees it, of resources whose
// names have at most so many characters.
func shownMeta(longest int64, namespaced bool) *Type {
	t := &Type{kind: KindObject, fields: map[string]*Type{}, given: []string{"name", "uid", "generation"}}
	if namespaced {
		t.given = append(t.given, "namespace")
	}
	for _, name := range Shown {
		t.fields[name] = objectMeta().fields[name]
	}
	t.fields["name"] = textType(int(longest))
	return t
}

// liveMeta is the metadata of an object that the cluster holds.
var liveMeta = sync.OnceValue(func() *Type {
	t := *objectMeta()
	t.given = []string{"name", "uid", "resourceVersion", "creationTimestamp"}
	return &t
})
