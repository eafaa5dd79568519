package chart

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
)

var (
	inDefault = regexp.MustCompile(`^spec\.versions\[0\]\.schema\.openAPIV3Schema((?:\.properties\[[^\]]+\])+)\.default\b`)
	property  = regexp.MustCompile(`\.properties\[([^\]]+)\]`)
	sensitive = regexp.MustCompile(`(?i)(?:password|passwd|secret|secretkey|token|apikey|accesskey|credentials|privatekey)$`)
)

// acceptedCRD returns the CRD as text, without the defaults that its own schema refuses. A chart
// whose values break their schema wants them to be given.
func (v *conversion) acceptedCRD(spec shape) ([]byte, error) {
	file := "crds/" + v.target.Name() + ".yaml"
	for {
		settleDefaults(spec)
		crd, err := sigsyaml.Marshal(v.makeCRD(spec))
		if err != nil {
			return nil, fmt.Errorf("writing the CRD: %w", err)
		}
		_, err = crdfile.Parse(file, crd)
		if err == nil {
			return crd, nil
		}
		if !v.dropDefaults(spec, err) {
			return nil, fmt.Errorf("making a schema of the chart's values: %w", err)
		}
	}
}

// dropDefaults takes out the defaults that an error is about, and reports whether
// there were any.
func (v *conversion) dropDefaults(spec shape, err error) bool {
	var findings crdfile.Errors
	dropped := false
	if !errors.As(err, &findings) {
		return false
	}
	for _, f := range findings {
		m := inDefault.FindStringSubmatch(f.Field)
		if m == nil {
			continue
		}
		at, within := shape{"properties": shape{"spec": spec}}, shape(nil)
		var path []string
		for _, name := range property.FindAllStringSubmatch(m[1], -1) {
			at, within = asMap(asMap(at["properties"])[name[1]]), at
			path = append(path, name[1])
		}
		if _, has := at["default"]; !has || len(path) < 2 {
			continue
		}
		delete(at, "default")
		requireField(within, path[len(path)-1])
		dropped = true
		name := strings.Join(path[1:], ".")
		v.addNote(Note{File: "values.yaml", What: name + ", which values.schema.json refuses",
			Do: "it has no default, and must be given: " + f.Text})
	}
	return dropped
}

// noteSecrets says which fields of the spec are likely to be secret.
func (v *conversion) noteSecrets(s shape, path string) {
	for _, name := range sortedKeys(asMap(s["properties"])) {
		p := asMap(asMap(s["properties"])[name])
		at := strings.TrimPrefix(path+"."+name, ".")
		if p["type"] == "string" && sensitive.MatchString(name) && !strings.HasPrefix(strings.ToLower(name), "existing") {
			do := "whoever may read the resource can read it: let the spec name a Secret instead, or draw it with stable"
			if p["default"] != "" && p["default"] != nil {
				delete(p, "default")
				do += ". Its default is left out"
			}
			v.addNote(Note{File: "values.yaml", What: at + ", which looks secret", Do: do})
		}
		v.noteSecrets(p, at)
	}
}

// pruneDefault returns a default without the fields that a shape does not have.
func pruneDefault(v any, s shape) any {
	if s[openKey] == true || s["additionalProperties"] != nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		props := asMap(s["properties"])
		for name, value := range v {
			if props[name] == nil {
				delete(v, name)
				continue
			}
			v[name] = pruneDefault(value, asMap(props[name]))
		}
	case []any:
		for i, item := range v {
			v[i] = pruneDefault(item, asMap(s["items"]))
		}
	}
	return v
}
