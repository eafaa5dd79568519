package playground

import (
	"context"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

var starts = sync.OnceValues(func() ([]Start, error) { return Starts(os.DirFS("../..")) })

func start(t *testing.T) Input {
	t.Helper()
	all, err := starts()
	if err != nil {
		t.Fatal(err)
	}
	return Input{Files: maps.Clone(all[0].Files), Naive: all[0].Naive}
}

const deployment = "templates/apps.app.huolala.cn/deployment.yaml"

// TestFindings: what is wrong is told with its place, and the rest is shown all the same.
func TestFindings(t *testing.T) {
	const crd = "crds/apps.app.huolala.cn.yaml"
	for _, tt := range []struct {
		file, old, with, want, class string
		partial                      bool
	}{
		{deployment, ".spec.image", ".spec.imgae", "did you mean spec.image?", "unknown-field", true},
		{deployment, "{{", "{{ }}{{", "this action has no value", "syntax", true},
		{deployment, "      labels:", "      labels: {own: x}\n      annotations:", "(rendered for resource.yaml:1:1)", "invalid-child", false},
		{Resource, "kind: App", "kind: Ap", "did you mean App?", "", false},
		{Resource, "replicas: 2", "replicas: two", "spec.replicas", "", false},
		{crd, "openAPIV3Schema", "openAPIV3Shcema", "openAPIV3Shcema", "syntax", true},
		{Cluster, "", "a: [", "", "", false},
	} {
		in := start(t)
		text := in.Files[tt.file]
		if !strings.Contains(text, tt.old) {
			t.Fatalf("%s has no %s", tt.file, tt.old)
		}
		in.Files[tt.file] = strings.Replace(text, tt.old, tt.with, 1)
		out := Run(t.Context(), in)
		found := false
		for _, f := range out.Findings {
			found = found || strings.Contains(f.Text, tt.want) && f.File == tt.file && f.Line > 0 && f.Class == tt.class
		}
		if !found || out.Partial != tt.partial {
			t.Errorf("%s: partial %v, found %+v", tt.with, out.Partial, out.Findings)
		}
	}
}

// TestEndless: a template that prints without end is bounded.
func TestEndless(t *testing.T) {
	in := start(t)
	in.Files["templates/apps.app.huolala.cn/endless.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n" +
		"{{- range until 100000 }}{{ range until 100000 }}\n  a{{ . }}: b{{ end }}{{ end }}\n"
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out := Run(ctx, in)
	if ctx.Err() != nil || out.Objects != "" || len(out.Findings) == 0 {
		t.Errorf("%v: got %d bytes, found %+v", ctx.Err(), len(out.Objects), out.Findings)
	}
}

// TestNothingHalf: as by `jacquard render`, nothing is printed if one of two resources is
// wrong or given twice.
func TestNothingHalf(t *testing.T) {
	good := start(t)
	broken := strings.Replace(good.Files[Resource], "name: ", "name: other-", 1)
	for with, want := range map[string]string{
		good.Files[Resource]: "is given twice",
		broken:               "stop here",
	} {
		in := start(t)
		in.Files["templates/apps.app.huolala.cn/fails.yaml"] =
			"{{ if hasPrefix \"other-\" .metadata.name }}{{ fail \"stop here\" }}{{ end }}\n"
		in.Files[Resource] += "---\n" + with
		out := Run(t.Context(), in)
		found := false
		for _, f := range out.Findings {
			found = found || strings.Contains(f.Text, want)
		}
		if !found || out.Objects != "" || out.Waits != "" {
			t.Errorf("%s: got %q, found %+v", want, out.Objects, out.Findings)
		}
	}
}

// TestNaiveIsBounded: text/template has no bounds of its own.
func TestNaiveIsBounded(t *testing.T) {
	in := start(t)
	in.Naive = true
	in.Files["templates/apps.app.huolala.cn/large.yaml"] =
		"{{ define \"x\" }}{{ range $.spec }}{{ printf \"%100000d\" 1 }}{{ template \"x\" $ }}{{ end }}{{ end }}{{ template \"x\" . }}"
	out := Run(t.Context(), in)
	if want := "it prints more than"; !strings.Contains(out.Naive, want) || len(out.Naive) > 2*maxNaive {
		t.Errorf("there are %d bytes, and %q is not said", len(out.Naive), want)
	}
}

// TestStarts: there is something to see of each start.
func TestStarts(t *testing.T) {
	all, err := starts()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if out := Run(t.Context(), one.Input); out.Objects == "" || one.Group != "attack" && len(out.Findings) > 0 {
			t.Errorf("%s: got %d bytes, found %+v", one.Name, len(out.Objects), out.Findings)
		}
	}
}
