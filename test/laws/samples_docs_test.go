package laws

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
)

// A sample is a kind that a document shows, or a part of one.
type sample struct {
	file, heading string
	// from is the number of the section's first block of YAML that belongs to it;
	// names say what files these blocks are.
	from  int
	names []string
	// spec is what a resource says, fields the properties of its schema, one a line.
	spec, fields string
	// beside are files that the text takes for granted.
	beside map[string]string
}

const (
	sampleFolder = "templates/pages.example.com/"
	sampleServer = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .metadata.name }}}\nspec:\n" +
		"  selector: {matchLabels: {page: {{ .metadata.name }}}}\n" +
		"  template:\n    metadata: {labels: {page: {{ .metadata.name }}}}\n" +
		"    spec:\n      containers: [{name: server, image: {{ .spec.image }}}]\n"
	sampleSpace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ childName .metadata.namespace .metadata.name }}\n" +
		"  annotations:\n    jacquard.dev/on-delete: delete\n---\n" +
		"apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: {{ .metadata.name }}\n" +
		"  namespace: {{ childName .metadata.namespace .metadata.name }}\nspec: {hard: {pods: {{ .spec.pods }}}}\n"
	sampleText  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .metadata.name }}}\ndata: {text: {{ .spec.text }}}\n"
	sampleReads = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n" +
		"data:\n  there: {{ lookup \"v1\" \"Secret\" \"platform\" \"pull-secret\" | empty | quote }}\n"
)

// Schemas of the samples' fields.
const (
	ofText  = "text: {type: string}"
	ofImage = "image: {type: string}"
	ofPage  = "registry: {type: string}\ntag: {type: string, default: latest}\ntitle: {type: string}\nreplicas: {type: integer}\n" +
		"nodeSelector: {type: object, additionalProperties: {type: string}}\nargs: {type: array, items: {type: string}}"
	ofPorts = "image: {type: string}\nports: {type: array, items: {type: object, required: [name, port], properties: {" +
		"name: {type: string}, port: {type: integer}, containerPort: {type: integer}}}}"
	ofSites = "sites: {type: array, items: {type: object, required: [name, title, port], properties: {" +
		"name: {type: string, minLength: 1, maxLength: 63, pattern: '^[a-z0-9]+$'}, title: {type: string}, port: {type: integer}}}}"
	ofHosts = "sites: {type: array, items: {type: object, required: [name], properties: {" +
		"name: {type: string}, host: {type: string}}}}"
	ofScaled = "image: {type: string}\nreplicas: {type: integer, default: 1}\n" +
		"autoscale: {type: object, required: [most], properties: {most: {type: integer}}}"
)

var samples = []sample{
	{file: guide, heading: "## Write templates", names: []string{"server.yaml"},
		spec: "{registry: example.com, title: 'a: b'}", fields: ofPage},
	{file: guide, heading: "### Use conditions and loops", names: []string{"service.yaml"},
		spec: "{image: a, ports: [{name: http, port: 80, containerPort: 8080}]}", fields: ofPorts,
		beside: map[string]string{"server.yaml": sampleServer}},
	{file: guide, heading: "### Build names", names: []string{"sites.yaml"}, spec: "{sites: [{name: a, title: A, port: 80}]}",
		fields: ofSites},
	{file: guide, heading: "### Use settings of the installation", names: []string{"config.yaml", "settings.yaml"}, spec: "{text: a}",
		fields: ofText,
		beside: map[string]string{"files/init.sql": "SELECT 1;\n",
			"page.yaml": strings.Replace(sampleText, ".metadata.name", `childName .metadata.name "page"`, 1)}},
	{file: guide, heading: "### Read one object", names: []string{"settings.yaml"}, spec: "{settings: a}",
		fields: "settings: {type: string, minLength: 1}"},
	{file: guide, heading: "### Read objects by label", names: []string{"backends.yaml"}, spec: "{text: a}", fields: ofText,
		beside: map[string]string{"page.yaml": strings.Replace(sampleText, ".metadata.name", `childName .metadata.name "page"`, 1)}},
	{file: guide, heading: "### Read from another namespace", names: []string{"kind.yaml", "settings.yaml"}, spec: "{text: a}", fields: ofText,
		beside: map[string]string{"page.yaml": strings.Replace(sampleText, ".metadata.name", `childName .metadata.name "page"`, 1)}},
	{file: guide, heading: "## Wait for something", names: []string{"settings.yaml"}, spec: "{image: a}", fields: ofImage,
		beside: map[string]string{"database.yaml": sampleServer}},
	{file: guide, heading: "## Secrets", names: []string{"secret.yaml", "server.yaml"}, spec: "{text: a}", fields: ofText,
		beside: map[string]string{"config.yaml": "registry: example.com\n", "page.yaml": sampleText}},
	{file: guide, heading: "## Secrets", from: 2, names: []string{"server.yaml"}, spec: "{login: a}",
		fields: "login: {type: string, minLength: 1}",
		beside: map[string]string{"config.yaml": "registry: example.com\n"}},
	{file: guide, heading: "## Secrets", from: 3, names: []string{"pull.yaml"}, spec: "{pullSecret: a}", fields: "pullSecret: {type: string}"},
	{file: guide, heading: "### Put a child in another namespace", names: []string{"kind.yaml", "shared.yaml"}, spec: "{text: a}",
		fields: ofText},
	{file: guide, heading: "### Create a Namespace", names: []string{"kind.yaml", "space.yaml"}, spec: "{pods: 3}",
		fields: "pods: {type: integer}"},
	{file: guide, heading: "### Recreate on an immutable change", names: []string{"server.yaml"}, spec: "{image: a, tier: b}",
		fields: "image: {type: string}\ntier: {type: string, default: web, maxLength: 63, pattern: '^[a-z]+$'}"},
	{file: guide, heading: "### Keep data", names: []string{"claim.yaml"}, spec: "{size: 1Gi}",
		fields: "size: {type: string, pattern: '^[0-9]+Gi$'}"},
	{file: guide, heading: "### Leave fields to an autoscaler", names: []string{"server.yaml"}, spec: "{image: a, autoscale: {most: 3}}",
		fields: ofScaled},
	{file: guide, heading: "### Run a Job once", names: []string{"migrate.yaml"}, spec: "{image: a}", fields: ofImage},
	{file: guide, heading: "### Take over an existing object", names: []string{"account.yaml"}, spec: "{image: a}", fields: ofImage,
		beside: map[string]string{"server.yaml": sampleServer}},
	{file: guide, heading: "## Patch somebody else's object", names: []string{"pods.yaml"}, spec: "{selector: {a: b}}",
		fields: "selector: {type: object, minProperties: 1, additionalProperties: {type: string}}"},
	{file: guide, heading: "### Say what is wrong", names: []string{"sites.yaml"}, spec: "{sites: [{name: a, host: b}, {name: c}]}",
		fields: ofHosts},
	{file: guide, heading: "### Write status fields", names: []string{"status.yaml"}, spec: "{image: a}", fields: ofImage,
		beside: map[string]string{"deployment.yaml": sampleServer}},
	{file: guide, heading: "### Write conditions", names: []string{"status.yaml"}, spec: "{image: a}",
		fields: "image: {type: string}\nmaintenance: {type: boolean}",
		beside: map[string]string{"deployment.yaml": sampleServer}},
	{file: reference, heading: "## kind.yaml", names: []string{"kind.yaml"}, spec: "{pods: 3, image: a}",
		fields: "pods: {type: integer}\nimage: {type: string, default: nginx}",
		beside: map[string]string{"space.yaml": sampleSpace, "app.yaml": sampleServer, "database.yaml": sampleReads}},
	{file: "docs/tools.md", heading: "### Silencing a finding", names: []string{"page.yaml"}, spec: "{size: 1, title: a}",
		fields: "size: {type: integer, default: 1}\ntitle: {type: string}"},
	{file: guide, heading: "### A complete example",
		names: []string{"_page.tpl", "page.yaml", "server.yaml", "status.yaml", "tests/plain/resource.yaml", "tests/plain/cluster.yaml"}},
}

// TestSamplesAreSound: what the documents show of kinds lints, passes its
// cases and packs, without a finding. No document shows a template, or settings
// of a kind, that this test does not know.
func TestSamplesAreSound(t *testing.T) {
	readme := block.FindAllStringSubmatch(section(t, "README.md", "## A kind in twenty lines"), -1)
	known := []string{}
	for _, s := range samples {
		t.Run(strings.Trim(s.heading, "# ")+fmt.Sprint(s.from), func(t *testing.T) {
			blocks := block.FindAllStringSubmatch(section(t, s.file, s.heading), -1)
			dir := t.TempDir()
			write(t, dir, "crds/pages.example.com.yaml", readme[0][1])
			if s.spec != "" {
				write(t, dir, "crds/pages.example.com.yaml", sampleCRD(t, readme[0][1], s.fields))
				write(t, dir, sampleFolder+"tests/plain/resource.yaml", "apiVersion: example.com/v1\nkind: Page\nmetadata: {name: hello}\nspec: "+s.spec+"\n")
			}
			for i, name := range s.names {
				text := blocks[s.from+i][1]
				known = append(known, text)
				write(t, dir, sampleFolder+name, text)
			}
			for name, text := range s.beside {
				write(t, dir, sampleFolder+name, text)
			}
			sound(t, dir)
		})
	}
	t.Run("README", func(t *testing.T) {
		dir := t.TempDir()
		for i, file := range []string{"crds/pages.example.com.yaml", sampleFolder + "page.yaml", "examples/pages.example.com.yaml",
			sampleFolder + "tests/hello/want.yaml"} {
			write(t, dir, file, readme[i][1])
			known = append(known, readme[i][1])
		}
		write(t, dir, sampleFolder+"tests/hello/resource.yaml", readme[2][1])
		sound(t, dir)
	})
	taken := regexp.MustCompile(`\b(rendered|child|children|await|stable) "(config|kind|status)"`) // files that make no children
	ofKind := regexp.MustCompile(`(?m)(^|[^$])\{\{|^kind: KindSettings$`)
	for _, file := range files(t, ".md") {
		for _, wrong := range taken.FindAllString(string(read(t, file)), -1) {
			t.Errorf("%s: teaches %s, which no folder can have", file, wrong)
		}
		for _, m := range block.FindAllStringSubmatch(string(read(t, file)), -1) {
			if file != patterns && ofKind.MatchString(m[1]) && !slices.Contains(known, m[1]) { // TestPatternsAreQuoted knows the patterns
				t.Errorf("%s: this test does not know where this belongs:\n%s", file, m[1])
			}
		}
	}
}

// sampleCRD is the README's definition with the fields of another spec, and
// with the status that the reference shows.
func sampleCRD(t *testing.T, readme, fields string) string {
	t.Helper()
	spec := "          spec:\n            type: object\n"
	if fields != "" {
		spec += "            required: [" + regexp.MustCompile(`^\w+`).FindString(fields) + "]\n            properties:\n" + indent(fields, 14)
	}
	status := block.FindStringSubmatch(section(t, reference, "## The CRD"))[1]
	status = strings.Replace(status, "  properties:\n", "  properties:\n    readyReplicas: {type: integer}\n", 1)
	before, _, _ := strings.Cut(readme, "          spec:\n")
	return before + spec + indent(status, 10)
}

func indent(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", by) + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// sound lints, tests and packs the kind of a root.
func sound(t *testing.T, root string) {
	t.Helper()
	for _, command := range [][]string{{"test", "--update"}, {"lint"}, {"test"}, {"pack", "pages.example.com"}} {
		var out, trouble bytes.Buffer
		if code := cli.Main(append(command, "--root", root), strings.NewReader(""), &out, &trouble); code != 0 {
			t.Errorf("jacquard %s: exit %d:\n%s%s", strings.Join(command, " "), code, out.String(), trouble.String())
		}
	}
}
