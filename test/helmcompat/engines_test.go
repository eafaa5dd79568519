package helmcompat

import (
	"context"
	"fmt"
	"k8s.io/apimachinery/pkg/labels"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// renderHelm renders with Helm's engine and reads its text as kubectl would.
// The fragment becomes a define that is handed the resource: so both `.` and
// `$` are the resource, as they are for ours.
func renderHelm(f fragment) ([]any, error) {
	c := &chart.Chart{
		Metadata: &chart.Metadata{Name: "shop", Version: "0.1.0"},
		Templates: []*common.File{
			{Name: "templates/_helpers.tpl", Data: []byte(f.partials)},
			{Name: "templates/_fragment.tpl", Data: []byte(`{{ define "fragment" }}` + f.template + `{{ end }}`)},
			{Name: "templates/fragment.yaml", Data: []byte(`{{ template "fragment" .Values.resource }}`)},
		},
	}
	values := common.Values{"Values": common.Values{"resource": runtime.DeepCopyJSON(f.resource)}}
	out, err := engine.Engine{}.RenderWithContext(context.Background(), c, values)
	if err != nil {
		return nil, fmt.Errorf("rendering with Helm: %w", err)
	}
	docs, err := documents(out["shop/templates/fragment.yaml"])
	if err != nil {
		return nil, fmt.Errorf("reading what Helm rendered: %w", err)
	}
	return docs, nil
}

// renderOurs renders with our engine, as the file fragment.yaml of a folder.
func renderOurs(f fragment) ([]any, error) {
	set, err := template.Compile(template.Input{Sources: []template.Source{
		{Name: "_helpers.tpl", File: "_helpers.tpl", Text: f.partials},
		{Name: "fragment", File: "fragment.yaml", Text: f.template},
	}})
	if err != nil {
		return nil, fmt.Errorf("compiling with ours: %w", err)
	}
	docs, err := set.Execute(context.Background(), "fragment", f.resource, nowhere{})
	if err != nil {
		return nil, fmt.Errorf("rendering with ours: %w", err)
	}
	objects := []any{}
	for _, d := range docs {
		objects = append(objects, d.Object)
	}
	return objects, nil
}

// nowhere is a cluster without anything: no fragment asks for it.
type nowhere struct{}

func (nowhere) HasAPI(string, string) (bool, error) { return false, nil }
func (nowhere) Children(string) ([]any, error)      { return nil, nil }

func (nowhere) Await(string, []*template.Document) (any, string, error) { return nil, "", nil }
func (nowhere) Lookup(template.Object) (any, error)                     { return nil, nil }
func (nowhere) Select(template.Object, labels.Selector) ([]any, error)  { return nil, nil }
func (nowhere) Config(string) (any, error)                              { return nil, nil }
func (nowhere) Stable(string, string, int) (string, error)              { return "", nil }
