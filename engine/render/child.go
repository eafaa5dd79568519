package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// notWritten are the fields of metadata that a template may not write.
var notWritten = []string{
	"generateName", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields", "selfLink",
}

// newChild is the one place where it is decided whether a document may be a
// child of this resource, or a patch of it.
func newChild(k *kind.Kind, resource *unstructured.Unstructured, file string, d *template.Document) (Child, error) {
	c := Child{File: file, Object: &unstructured.Unstructured{Object: d.Object}, Doc: d}
	c.Drawn = c.Object.GroupVersionKind() == secrets && k.Draws(file)
	for _, check := range []func(*kind.Kind, *unstructured.Unstructured) error{
		c.checkKind, c.checkMetadata, c.takePolicy, c.checkStatus, c.checkName, c.checkAdopts, c.checkPlace,
	} {
		if err := check(k, resource); err != nil {
			return c, err
		}
	}
	return c, nil
}

var secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

func (c *Child) errorf(path []any, format string, args ...any) error {
	return &template.Error{Place: c.Doc.Place(path...), Err: fmt.Errorf(format, args...)}
}

func (c *Child) checkKind(k *kind.Kind, _ *unstructured.Unstructured) error {
	apiVersion, _ := c.Object.Object["apiVersion"].(string)
	name, _ := c.Object.Object["kind"].(string)
	gvk := c.Object.GroupVersionKind()
	switch {
	case apiVersion == "":
		return c.errorf(nil, "the document has no apiVersion: write the line `apiVersion: …` at column 0")
	case name == "":
		return c.errorf(nil, "the document has no kind: write the line `kind: …` at column 0")
	case name == "List" || strings.HasSuffix(name, "List") && c.Object.Object["items"] != nil:
		return c.errorf([]any{"kind"}, "a List is not allowed: write its items as documents parted by ---")
	case gvk.GroupKind() == k.GVK.GroupKind():
		return c.errorf([]any{"kind"}, "a folder may not create its own kind %s", name)
	case !k.Creates(gvk) && !k.Patched(gvk):
		return c.errorf([]any{"kind"},
			"the folder does not say literally that it creates this kind: write apiVersion and kind as literal lines at column 0, in the same branch")
	}
	return nil
}

func (c *Child) checkMetadata(*kind.Kind, *unstructured.Unstructured) error {
	meta, ok := c.Object.Object["metadata"].(map[string]any)
	if !ok {
		return c.errorf(nil, "%s has no metadata.name: give it one", c.Object.GetKind())
	}
	// Written and left out because its value is nothing just now counts too.
	for _, field := range notWritten {
		if _, there := meta[field]; !there && !c.Doc.Writes("metadata", field) {
			continue
		}
		if field == "generateName" {
			return c.errorf([]any{"metadata", field}, "generateName would make a new object every time: use metadata.name")
		}
		return c.errorf([]any{"metadata", field}, "metadata.%s belongs to the cluster and the engine and cannot be rendered", field)
	}
	for _, field := range []string{"labels", "annotations"} {
		if err := c.checkTexts(meta, field); err != nil {
			return err
		}
	}
	return nil
}

// checkStatus refuses a status, but in a patch of just that.
func (c *Child) checkStatus(*kind.Kind, *unstructured.Unstructured) error {
	if _, there := c.Object.Object["status"]; (there || c.Doc.Writes("status")) && c.Policy.Subresource != "status" {
		return c.errorf([]any{"status"}, "status belongs to the cluster and cannot be rendered")
	}
	return nil
}

// checkTexts refuses labels and annotations whose values are no texts.
func (c *Child) checkTexts(meta map[string]any, field string) error {
	v, ok := meta[field]
	if !ok {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return c.errorf([]any{"metadata", field}, "metadata.%s must be a map of texts", field)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if _, text := m[key].(string); !text {
			return c.errorf([]any{"metadata", field, key}, "a value in metadata.%s must be a text: quote it", field)
		}
	}
	return nil
}

func (c *Child) checkName(*kind.Kind, *unstructured.Unstructured) error {
	name, ok := c.Object.Object["metadata"].(map[string]any)["name"].(string)
	if !ok || name == "" {
		return c.errorf([]any{"metadata"}, "%s has no metadata.name: give it one", c.Object.GetKind())
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 && !pathName[c.Object.GroupVersionKind().Group] {
		return c.errorf([]any{"metadata", "name"}, "metadata.name is no valid name: lower case letters, digits, - and ., at most 253 characters")
	}
	return nil
}

// pathName are groups whose objects have freer names.
var pathName = map[string]bool{"rbac.authorization.k8s.io": true}
