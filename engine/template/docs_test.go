package template

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// documented gives the blocks of YAML of a section of docs/templates.md.
func documented(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/templates.md has no %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n"+heading[:strings.Index(heading, " ")]+" ")
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(part, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestDocumentedReads: the examples of docs/templates.md about waiting and
// Secrets do what they say.
func TestDocumentedReads(t *testing.T) {
	waiting, secrets := documented(t, "## Wait for something"), documented(t, "## Secrets")
	if len(waiting) != 2 || len(secrets) != 4 { // the second of waiting is for kind.yaml
		t.Fatalf("docs/templates.md: %d and %d examples; 2 and 4 were expected", len(waiting), len(secrets))
	}
	texts := map[string]string{"page": waiting[0], "secret": secrets[0], "server": secrets[1], "theirs": secrets[2], "pull": secrets[3],
		"database": ""}
	in := Input{Config: map[string]any{"registry": nil}}
	for _, name := range sortedKeys(texts) {
		in.Sources = append(in.Sources, Source{Name: name, File: name + ".yaml", Text: texts[name]})
	}
	set, err := Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	dot := resource()
	dot["spec"].(map[string]any)["pullSecret"] = "pw"
	dot["spec"].(map[string]any)["login"] = "pw"
	w := town()
	w.stable = "drawn"
	w.children["database"] = []any{object("Service", "db", nil, nil)}
	show := func(name string) (any, error) {
		docs, err := set.Execute(context.Background(), name, dot, w)
		if err != nil || len(docs) != 1 {
			return nil, err
		}
		return throughJSON(t, docs[0].Object), nil
	}
	const checksum = "92039617112038c318b92cb2402dc5eefee3f3c5a954df4fd8cd26b99d23dae7"
	for name, want := range map[string]string{
		"page":   `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {host: db.default}}`,
		"secret": `{apiVersion: v1, kind: Secret, metadata: {name: web-db}, stringData: {password: drawn, url: "postgres://page:drawn@web-db/page"}}`,
		"pull":   `{apiVersion: v1, kind: Secret, metadata: {name: web-pull}, type: Opaque, data: {password: YzRuNHJ5IQ==, json: eyJwIjoiYzRuNHJ5ISJ9}}`,
		"server": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {page: web}}, template: {metadata: {labels: {page: web}, annotations: {checksum: ` + checksum + `}},
			spec: {containers: [{name: server, image: registry.example.com/server:1, envFrom: [{secretRef: {name: web-db}}]}]}}}}`,
		"theirs": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {page: web}}, template: {metadata: {labels: {page: web}, annotations: {checksum: 4894bc91c541f4e45824b28c2338e6afbe49a97c80f469f6cc9fa5cc5848db2c}},
			spec: {containers: [{name: server, image: registry.example.com/server:1, envFrom: [{secretRef: {name: pw}}]}]}}}}`,
	} {
		got, err := show(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(fromYAML(t, want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	w.waits["database"] = "Service db is not ready"
	w.objects = nil
	for _, name := range []string{"page", "pull", "theirs"} {
		var wait *Wait
		if got, err := show(name); !errors.As(err, &wait) {
			t.Errorf("%s: want it to wait, got %v, %v", name, got, err)
		}
	}
}
