package lint

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// given are the functions that stand before a value which may be absent.
var given = []string{"default", "ifNil", "required"}

// fallbacks takes away each call of default, ifNil and required.
func fallbacks(file, text string) []mutant {
	var all []mutant
	for _, a := range actions(text) {
		ts := tokens(text, a)
		for i, t := range ts {
			name := text[t[0]:t[1]]
			if !slices.Contains(given, name) {
				continue
			}
			fallback, ok := operand(text, ts, i+1)
			if !ok {
				continue
			}
			from, to := t[0], ts[fallback[1]-1][1]
			if value, ok := operand(text, ts, fallback[1]); ok {
				to = ts[value[0]][0] // default 1 .a: what is left is .a
			} else {
				from = strings.LastIndex(text[:from], "|")
			}
			all = append(all, mutant{file, "without " + text[from:to], text[:from] + text[to:]})
		}
	}
	return all
}

var (
	target = regexp.MustCompile(`(?m)^([ ]*(?:- )?)([A-Za-z][\w]*):( .*\{\{.*)$`)
	// labelled are maps whose keys are anybody's.
	labelled = []string{"labels", "matchLabels", "annotations", "nodeSelector", "data", "selector"}
)

// retargeted renames each field of a child that a value is printed into, and
// gives it a value of another type.
func retargeted(file, text string) []mutant {
	var all []mutant
	for _, m := range target.FindAllStringSubmatchIndex(text, -1) {
		key, value := text[m[4]:m[5]], text[m[6]:m[7]]
		if key != "name" && !slices.Contains(labelled, parent(text[:m[0]], m[3]-m[2])) {
			all = append(all, mutant{file, "renamed " + key + ":" + value, text[:m[4]] + misspell(key) + text[m[5]:]})
		}
		all = append(all, mutant{file, "another type for " + key + ":" + value, text[:m[6]] + ` {{ list (dict "wrong" "x") }}` + text[m[7]:]})
	}
	return all
}

// parent is the key of the map that a line of so many blanks belongs to.
func parent(before string, blanks int) string {
	lines := strings.Split(before, "\n")
	for _, line := range slices.Backward(lines) {
		key, _, isKey := strings.Cut(strings.TrimSpace(line), ":")
		if isKey && !strings.Contains(key, "{{") && len(line)-len(strings.TrimLeft(line, " ")) < blanks {
			return strings.TrimPrefix(key, "- ")
		}
	}
	return ""
}

// retyped gives each field of the spec that is printed another type.
func retyped(file, crd string, printed func(path string) bool) ([]mutant, error) {
	var all []mutant
	var paths []string
	if err := eachField(crd, func(path string, _ map[string]any) { paths = append(paths, path) }); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !printed(path) {
			continue
		}
		what := ""
		change := func(at string, field map[string]any) {
			if at == path {
				what = retype(field)
			}
		}
		text, err := edited(crd, change)
		if err != nil {
			return nil, err
		}
		all = append(all, mutant{file, path + " is " + what, text})
	}
	return all, nil
}

// retype changes what a schema allows.
func retype(field map[string]any) string {
	was, _ := field["type"].(string)
	description := field["description"]
	_, defaulted := field["default"]
	clear(field)
	if description != nil {
		field["description"] = description
	}
	is, value := "string", any("text")
	if was == "string" {
		is, value = "integer", 1
	}
	field["type"] = is
	if defaulted {
		field["default"] = value
	}
	return is
}

// eachField visits the fields of the spec in all versions of a CRD.
func eachField(crd string, visit func(path string, field map[string]any)) error {
	_, err := edited(crd, visit)
	return err
}

// edited is the CRD after a visit of each field of the spec. Rules go: a type
// that they do not expect is no finding of ours.
func edited(crd string, visit func(path string, field map[string]any)) (string, error) {
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(crd), &doc); err != nil {
		return "", err
	}
	versions, _ := at(doc, "spec", "versions").([]any)
	for _, v := range versions {
		spec, _ := at(v, "schema", "openAPIV3Schema", "properties", "spec").(map[string]any)
		visitFields("spec", spec, visit)
	}
	text, err := yaml.Marshal(doc)
	return string(text), err
}

func at(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func visitFields(path string, field map[string]any, visit func(string, map[string]any)) {
	delete(field, "x-kubernetes-validations")
	properties, _ := field["properties"].(map[string]any)
	for name, below := range properties {
		if below, ok := below.(map[string]any); ok {
			visitFields(path+"."+name, below, visit)
		}
	}
	if items, ok := field["items"].(map[string]any); ok {
		visitFields(path+"[]", items, visit)
	}
	if path != "spec" {
		visit(path, field)
	}
}
