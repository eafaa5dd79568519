package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

// forms are kinds with blanks: [[ .Kind ]] and the like. What they have in
// common is in status.tpl.
//
//go:embed all:forms
var forms embed.FS

// The forms that there are.
const (
	FormConfigMap  = "configmap"  // a ConfigMap, to show the parts
	FormDeployment = "deployment" // a Deployment and a Service
)

// Form fills in a form.
func Form(form string, n Names) (*Draft, error) {
	d := NewDraft(n.Name())
	dir := path.Join("forms", form)
	err := fs.WalkDir(forms, dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fillForm(file, n)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(file, dir+"/")
		switch inner, isTemplate := strings.CutPrefix(name, "templates/"); {
		case name == "crd.yaml":
			d.addCRD(text)
		case name == "example.yaml":
			d.addExample(text)
		case isTemplate:
			d.AddTemplate(inner, text)
		default:
			d.AddTemplate(name, text)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("filling in the form %s: %w", form, err)
	}
	return d, nil
}

// fillForm returns the text of a file of forms/ with its blanks filled in.
func fillForm(file string, data any) (string, error) {
	t, err := template.New(path.Base(file)).Delims("[[", "]]").Option("missingkey=error").ParseFS(forms, "forms/status.tpl", file)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	return b.String(), nil
}
