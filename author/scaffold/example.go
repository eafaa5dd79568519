package scaffold

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	validfield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// exampleOf makes a resource that the schema allows. What rules ask for is
// added as far as their messages say it.
func exampleOf(crd *schema.CRD, version *schema.Version, root *props) ([]byte, error) {
	object, _ := sampleValue(root).(map[string]any)
	if spec, declared := root.Properties["spec"]; declared && object["spec"] == nil {
		object["spec"] = sampleValue(&spec)
	}
	delete(object, "status")
	gvk := version.GVK
	object["apiVersion"], object["kind"] = gvk.GroupVersion().String(), gvk.Kind
	object["metadata"] = map[string]any{"name": sampleName(crd, root)}
	var faults validfield.ErrorList
	for range 10 {
		if faults = faultsOf(crd, version, object); len(faults) == 0 {
			text, err := printOrdered(object)
			if err != nil {
				return nil, fmt.Errorf("printing the example: %w", err)
			}
			return text, nil
		}
		if !addAskedFields(object, root, faults) {
			break
		}
	}
	errs := []error{fmt.Errorf("making an example of %s: what the schema asks for was not found out: write one, and give it with --example FILE", gvk.Kind)}
	for _, fault := range faults {
		errs = append(errs, errors.New("  "+crdfile.Describe(fault)))
	}
	return nil, errors.Join(errs...)
}

// faultsOf is what an API server would refuse.
func faultsOf(crd *schema.CRD, version *schema.Version, object map[string]any) validfield.ErrorList {
	whole := runtime.DeepCopyJSON(object)
	if crd.Namespaced {
		whole["metadata"].(map[string]any)["namespace"] = "default"
	}
	apiserver.Default(version, whole)
	return apiserver.Validate(version, whole)
}

var onlyName = regexp.MustCompile(`self\.metadata\.name\s*==\s*['"]([a-z0-9.-]+)['"]`)

// sampleName is a name that the schema, or a rule for the only resource of a
// kind, allows.
func sampleName(crd *schema.CRD, root *props) string {
	for _, rule := range root.XValidations {
		if m := onlyName.FindStringSubmatch(rule.Rule); m != nil {
			return m[1]
		}
	}
	meta := root.Properties["metadata"]
	if name, bound := meta.Properties["name"]; bound && (len(name.Enum) > 0 || name.Pattern != "" || name.Format != "") {
		if text, is := sampleValue(&name).(string); is && text != "" {
			return text
		}
	}
	return crd.Singular + "-example"
}

var (
	asked = regexp.MustCompile(`^(\w+)(?: configuration)? (?:is required|must be (?:set|specified|provided))\b`)
	step  = regexp.MustCompile(`^([^\[]*)(?:\[(\d+)\])?$`)
)

// addAskedFields adds fields that messages of rules ask for. It reports whether it found any.
func addAskedFields(object map[string]any, root *props, faults validfield.ErrorList) bool {
	amended := false
	for _, fault := range faults {
		m := asked.FindStringSubmatch(fault.Detail)
		if m == nil {
			continue
		}
		within, p := findMap(object, root, fault.Field)
		if wanted, declared := p.Properties[m[1]]; declared && within != nil && within[m[1]] == nil {
			within[m[1]] = sampleValue(&wanted)
			amended = true
		}
	}
	return amended
}

// findMap returns the map at a path such as spec.configs[0], and its schema.
func findMap(object map[string]any, p *props, path string) (map[string]any, *props) {
	var at any = object
	for part := range strings.SplitSeq(path, ".") {
		m := step.FindStringSubmatch(part)
		if m == nil {
			return nil, &props{}
		}
		fields, _ := at.(map[string]any)
		inner, declared := p.Properties[m[1]]
		if !declared {
			return nil, &props{}
		}
		at, p = fields[m[1]], &inner
		if m[2] == "" {
			continue
		}
		list, _ := at.([]any)
		i, err := strconv.Atoi(m[2])
		if err != nil || i >= len(list) || p.Items == nil || p.Items.Schema == nil {
			return nil, &props{}
		}
		at, p = list[i], p.Items.Schema
	}
	found, _ := at.(map[string]any)
	return found, p
}
