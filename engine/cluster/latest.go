package cluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// latest is a RESTMapper over whatever the latest snapshot says.
type latest struct{ d *Discovery }

var _ meta.RESTMapper = latest{}

func (l latest) mapper() meta.RESTMapper { return l.d.Served().mapper }

func (l latest) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return l.mapper().KindFor(r)
}

func (l latest) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return l.mapper().KindsFor(r)
}

func (l latest) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return l.mapper().ResourceFor(r)
}

func (l latest) ResourcesFor(r schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return l.mapper().ResourcesFor(r)
}

func (l latest) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return l.mapper().RESTMapping(gk, versions...)
}

func (l latest) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return l.mapper().RESTMappings(gk, versions...)
}

func (l latest) ResourceSingularizer(resource string) (string, error) {
	return l.mapper().ResourceSingularizer(resource)
}
