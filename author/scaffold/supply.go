package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Supply adds to the CRD what a resource needs to say how it stands: a status
// subresource, the fields of the status that the engine writes, and those that
// columns of kubectl get and the scale subresource show. All else stays as its
// author wrote it, to the byte.
func (d *Draft) Supply() error {
	file := "crds/" + d.Name + ".yaml"
	i := slices.IndexFunc(d.Files, func(f File) bool { return f.Path == file })
	added := false
	for _, lacking := range []func(*schema.Version, *declaration) (string, error){lacksStatus, lacksShown} {
		text, err := supplyCRD(file, string(d.Files[i].Data), lacking)
		if err != nil {
			return fmt.Errorf("adding to %s what it lacks: %w", file, err)
		}
		added = added || text != string(d.Files[i].Data)
		d.Files[i].Data = []byte(text)
	}
	if added {
		d.Note(file + ": its status was completed, so that a resource says how it stands: take this over where the CRD comes from")
	}
	return nil
}

type declaration = apiextensionsv1.CustomResourceDefinitionVersion

// supplyCRD returns the text of a CRD with what the version of its kind lacks, as YAML.
func supplyCRD(file, text string, lacking func(*schema.Version, *declaration) (string, error)) (string, error) {
	crd, err := crdfile.Parse(file, []byte(text))
	if err != nil {
		return "", err
	}
	version, err := crd.Version("")
	if err != nil {
		return "", err
	}
	versions := crd.Object.Spec.Versions
	i := slices.IndexFunc(versions, func(v declaration) bool { return v.Name == version.Name })
	said, err := lacking(version, &versions[i])
	if err != nil || said == "" {
		return text, err
	}
	var document, wanted node
	if err := yamlv3.Unmarshal([]byte(text), &document); err != nil {
		return "", err
	}
	if err := yamlv3.Unmarshal([]byte(said), &wanted); err != nil {
		return "", err
	}
	s := supply{lines: strings.SplitAfter(text, "\n")}
	written := listItems(document.Content[0], "spec", "versions")
	if i >= len(written) {
		return text, nil
	}
	if fits, err := s.add(written[i], wanted.Content[0]); !fits || err != nil {
		return text, err // lint says what is lacking
	}
	more := s.textWithAdditions()
	if _, err := crdfile.Parse(file, []byte(more)); err != nil {
		return text, nil // it is written in a way that bears no addition: lint says it
	}
	return more, nil
}

// lacksStatus says what of the engine's own fields is not declared.
func lacksStatus(v *schema.Version, _ *declaration) (string, error) {
	if status, _ := schema.Root(v).Field("status"); v.Status && status != nil {
		if _, declared := status.Field("conditions"); declared {
			return "", nil
		}
	}
	return fillForm("forms/conditions.yaml", nil)
}

var inStatus = regexp.MustCompile(`^\.?status((?:\.[A-Za-z_]\w*)+)$`)

// lacksShown says which fields of the status are shown and not declared.
func lacksShown(v *schema.Version, declared *declaration) (string, error) {
	shown := map[string]string{} // the type of each path
	for _, column := range declared.AdditionalPrinterColumns {
		shown[column.JSONPath] = column.Type
		if column.Type == "date" {
			shown[column.JSONPath] = "string"
		}
	}
	if v.Scale != nil {
		shown[v.Scale.StatusReplicasPath] = "integer"
		if v.Scale.LabelSelectorPath != nil {
			shown[*v.Scale.LabelSelectorPath] = "string"
		}
	}
	root := map[string]any{}
	for path, kind := range shown {
		m := inStatus.FindStringSubmatch(path)
		if m == nil || hasStatusField(v, strings.Split(m[1][1:], ".")) {
			continue
		}
		within := root
		for name := range strings.SplitSeq("status"+m[1], ".") {
			properties, there := within["properties"].(map[string]any)
			if !there {
				properties = map[string]any{}
				within["type"], within["properties"] = "object", properties
			}
			if properties[name] == nil {
				properties[name] = map[string]any{}
			}
			within = properties[name].(map[string]any)
		}
		within["type"] = kind
	}
	if len(root) == 0 {
		return "", nil
	}
	return schemaText(map[string]any{"schema": map[string]any{"openAPIV3Schema": root}})
}

// hasStatusField reports whether the status of a version has a field.
func hasStatusField(v *schema.Version, path []string) bool {
	t, found := v.Live().Field("status")
	for _, name := range path {
		if !found {
			return false
		}
		t, found = t.Field(name)
	}
	return found
}
