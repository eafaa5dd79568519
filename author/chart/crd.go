package chart

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// addSchema writes the CRD, an example and the resource of a golden case.
func (v *conversion) addSchema(dir string, u *use) error {
	spec := v.specShape(u)
	crd, err := v.acceptedCRD(spec)
	if err != nil {
		return err
	}
	v.add(path.Join("crds", v.target.Name()+".yaml"), crd)
	example := shape{}
	fillExample(spec, u, example)
	resource, err := v.writeResource(example)
	if err != nil {
		return err
	}
	v.result.Example = path.Join("examples", v.target.Name()+".yaml")
	v.add(v.result.Example, resource)
	v.add(path.Join(dir, "tests", "defaults", "resource.yaml"), resource)
	return nil
}

// specShape is the schema of the spec.
func (v *conversion) specShape(u *use) shape {
	values := v.values
	if values == nil {
		values = &yaml.Node{Kind: yaml.MappingNode}
	}
	f := &inferrer{params: readParams(collectComments(values))}
	spec := f.objectShape(values, u, "", false)
	if v.chart.schema != nil {
		o := &overlay{root: v.chart.schema, note: func(_, what, do string) {
			v.addNote(Note{File: "values.schema.json", What: what, Do: do})
		}}
		o.laySchema(v.chart.schema, spec, "")
	}
	v.fixConditions(spec)
	for at := range v.moved {
		delete(shapeAt(spec, at), "default")
	}
	if len(f.dropped) > 0 {
		v.addNote(Note{File: "values.yaml", What: strings.Join(f.dropped, ", "), Do: "left out: no template that was carried over reads it"})
	}
	if len(f.demanded) > 0 {
		v.addNote(Note{File: "values.yaml", What: strings.Join(f.demanded, ", "),
			Do: "required in each item, since a template prints it without asking whether it is there"})
	}
	spec["description"] = "What is wanted."
	v.noteSecrets(spec, "")
	return spec
}

// collectComments returns all comments at the keys of a map.
func collectComments(n *yaml.Node) string {
	var b strings.Builder
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		b.WriteString(n.HeadComment + "\n" + n.FootComment + "\n")
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// shapeAt is the shape of a field, nil if there is none.
func shapeAt(s shape, where string) shape {
	for name := range strings.SplitSeq(where, ".") {
		s = asMap(asMap(s["properties"])[name])
	}
	return s
}

// fixConditions makes the conditions of subcharts false for good.
func (v *conversion) fixConditions(spec shape) {
	for _, at := range sortedKeys(v.fixed) {
		s := shapeAt(spec, at)
		if s == nil {
			continue
		}
		if s["default"] == true {
			v.addNote(Note{File: "values.yaml", What: at + ", which is true",
				Do: "false now, since the subchart was not carried over: say in the spec where its service is"})
		}
		s["type"], s["default"] = "boolean", false
		delete(s, openKey)
		delete(s, "nullable")
		s["x-kubernetes-validations"] = []any{shape{"rule": "!self", "message": "the subchart is no part of this kind"}}
	}
}

// settleDefaults removes fields with a default from the required ones, since the API server wants
// them in the default of the object around. It removes the default {} from objects with required
// fields, and makes these objects required in turn. It reports whether the shape is optional.
func settleDefaults(s shape) bool {
	props := asMap(s["properties"])
	for _, name := range sortedKeys(props) {
		if p := asMap(props[name]); !settleDefaults(p) {
			requireField(s, name)
		}
	}
	required, _ := s["required"].([]any)
	required = slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		_, has := asMap(props[name.(string)])["default"]
		return has
	})
	if items := asMap(s["items"]); items != nil {
		settleDefaults(items)
	}
	if len(required) == 0 {
		delete(s, "required")
		return true
	}
	s["required"] = required
	_, had := s["default"].(shape)
	delete(s, "default")
	return !had
}

// requireField adds a field to the required ones.
func requireField(s shape, name string) {
	required, _ := s["required"].([]any)
	if !slices.Contains(required, any(name)) {
		s["required"] = append(required, name)
	}
}

// fillExample fills an example with the fields that must be given: those that the schema requires,
// and those that templates refuse to be without.
func fillExample(s shape, u *use, into shape) {
	props := asMap(s["properties"])
	required, _ := s["required"].([]any)
	for _, name := range sortedKeys(props) {
		p := asMap(props[name])
		below := &use{}
		if u != nil && u.fields[name] != nil {
			below = u.fields[name]
		}
		d, has := p["default"]
		if p["type"] == "object" {
			inner := shape{}
			if fillExample(p, below, inner); len(inner) > 0 || slices.Contains(required, any(name)) && !has {
				into[name] = inner
			}
			continue
		}
		if below.required && (!has || d == "") || slices.Contains(required, any(name)) && !has {
			into[name] = sampleValue(p)
		}
	}
}

// sampleValue returns a value of a shape.
func sampleValue(s shape) any {
	if enum, ok := s["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	switch s["type"] {
	case "integer", "number":
		if low, ok := s["minimum"]; ok {
			return low
		}
		return int64(1)
	case "boolean":
		return true
	case "array":
		least, _ := s["minItems"].(float64)
		list := []any{}
		for range int(least) {
			list = append(list, sampleValue(asMap(s["items"])))
		}
		return list
	case "object":
		into := shape{}
		fillExample(s, nil, into)
		return into
	}
	return "example"
}

// makeCRD returns the whole definition.
func (v *conversion) makeCRD(spec shape) shape {
	t := v.target
	root := shape{
		"type": "object", "description": t.Kind + ", made of the Helm chart " + v.name + " " + v.version + ".",
		"properties": shape{
			"apiVersion": shape{"type": "string"}, "kind": shape{"type": "string"}, "metadata": shape{"type": "object"},
			"spec": spec, "status": statusShape(),
		},
		"x-kubernetes-validations": v.nameRules(),
	}
	if spec["default"] == nil {
		root["required"] = []any{"spec"}
	}
	return shape{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": shape{"name": t.Name()},
		"spec": shape{
			"group": t.Group, "scope": "Namespaced",
			"names": shape{"kind": t.Kind, "listKind": t.Kind + "List", "plural": t.Plural, "singular": t.Singular, "categories": []any{"jacquard"}},
			"versions": []any{shape{
				"name": t.Version, "served": true, "storage": true, "subresources": shape{"status": shape{}},
				"additionalPrinterColumns": []any{
					shape{"name": "Ready", "type": "string", "jsonPath": `.status.conditions[?(@.type=="Ready")].status`},
					shape{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
				},
				"schema": shape{"openAPIV3Schema": root},
			}},
		},
	}
}

// containsName is how charts leave their own name out of what is made of a
// release whose name has it already.
var containsName = regexp.MustCompile(`contains\s+\S+\s+\$?\.Release\.Name\b`)

// nameRules are what the name of a resource must be like.
func (v *conversion) nameRules() []any {
	rules := []any{shape{"rule": "self.metadata.name.size() <= 53",
		"message": "metadata.name: at most 53 characters, as the chart's templates count on"}}
	if slices.ContainsFunc(v.sources, func(s *source) bool { return !s.left && containsName.MatchString(s.text) }) {
		rules = append(rules, shape{
			"rule": fmt.Sprintf("!self.metadata.name.endsWith('-%s')", v.name),
			"message": "metadata.name: it may not end in -" + v.name +
				", as what is made of it would be named as that of a resource without this end",
		})
	}
	return rules
}

// statusShape is what the engine writes.
func statusShape() shape {
	integer := shape{"type": "integer", "format": "int64"}
	return shape{"type": "object", "description": "What became of it.", "default": shape{"observedGeneration": -1}, "properties": shape{
		"observedGeneration": integer, "childrenReady": integer, "childrenTotal": integer,
		"conditions": shape{
			"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"type"},
			"items": shape{"type": "object", "required": []any{"type", "status"}, "properties": shape{
				"type": text, "status": text, "reason": text, "message": text, "observedGeneration": integer,
				"lastTransitionTime": shape{"type": "string", "format": "date-time"},
			}},
		},
		"children": shape{"type": "array", "items": shape{"type": "object", "properties": shape{
			"apiVersion": text, "kind": text, "namespace": text, "name": text, "ready": shape{"type": "boolean"}, "message": text,
		}}},
	}}
}

// writeResource returns a custom resource with a spec, as YAML.
func (v *conversion) writeResource(spec shape) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: %s\n", v.target.Group, v.target.Version, v.target.Kind, "example")
	data, err := sigsyaml.Marshal(shape{"spec": spec})
	if err != nil {
		return nil, fmt.Errorf("writing an example: %w", err)
	}
	b.Write(data)
	return b.Bytes(), nil
}
