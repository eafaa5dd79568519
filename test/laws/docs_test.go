package laws

import (
	"bytes"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/api"
)

// code matches a piece of text set as code, on one line.
var code = regexp.MustCompile("`([^`\n]+)`")

// codes are the pieces of a text that are set as code.
func codes(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// section is the part of a document below a heading, up to the next heading of
// the same level or a higher one. A line within a block of code is no heading.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut("\n"+string(read(t, file)), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s: has no heading %q", file, heading)
	}
	next := regexp.MustCompile(`^#{1,` + strconv.Itoa(strings.Index(heading, " ")) + `} `)
	var part strings.Builder
	inCode := false
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
		}
		if !inCode && next.MatchString(line) {
			break
		}
		part.WriteString(line)
	}
	return part.String()
}

// TestAnnotationsAreDocumented: every label and annotation of ours is told of.
func TestAnnotationsAreDocumented(t *testing.T) {
	documented := codes(allDocs(t))
	n := 0
	for _, f := range goFiles(t) {
		if !strings.HasPrefix(f.path, "engine/api/") || f.test() {
			continue
		}
		ast.Inspect(f.ast, func(node ast.Node) bool {
			lit, ok := node.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if key, _ := strconv.Unquote(lit.Value); strings.HasPrefix(key, api.Domain+"/") {
				if n++; !documented[key] {
					t.Errorf("%s: `%s` is not in the documents", f.at(lit), key)
				}
			}
			return true
		})
	}
	if n == 0 {
		t.Error("engine/api holds no annotations: this test looks in the wrong place")
	}
}

// allDocs is the text of the README and of docs/.
func allDocs(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, file := range files(t, ".md") {
		if file == "README.md" || strings.HasPrefix(file, "docs/") {
			text.Write(read(t, file))
		}
	}
	return text.String()
}

var (
	commandLine = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`)
	flagName    = regexp.MustCompile(`(?m)^ +(?:-\w, |    )(--[a-z-]+)`)
)

// TestCommandsAreDocumented: every command and flag of the command line is
// told of, as its own help lists them.
func TestCommandsAreDocumented(t *testing.T) {
	documented := codes(allDocs(t))
	_, commands, _ := strings.Cut(help(t), "Available Commands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	n := 0
	for _, m := range commandLine.FindAllStringSubmatch(commands, -1) {
		name := m[1]
		if name == "help" || name == "completion" {
			continue
		}
		if n++; !documented["jacquard "+name] {
			t.Errorf("the documents say nothing of `jacquard %s`", name)
		}
		for _, flag := range flagName.FindAllStringSubmatch(help(t, name), -1) {
			if flag[1] != "--help" && !documented[flag[1]] {
				t.Errorf("the documents say nothing of `%s` of jacquard %s", flag[1], name)
			}
		}
	}
	if n == 0 {
		t.Error("the command line has no commands: this test no longer understands its help")
	}
}

// help is what the command line says of itself or of one of its commands.
func help(t *testing.T, command ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	if code := cli.Main(append(command, "--help"), strings.NewReader(""), &out, &trouble); code != 0 {
		t.Fatalf("jacquard %s --help: exit %d: %s", strings.Join(command, " "), code, trouble.String())
	}
	return out.String()
}

// TestLinksLead: what the documents link to in the repository is there.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, file := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(string(read(t, file)), -1) {
			if !exists(file, m[1]) {
				t.Errorf("%s: links to %s, which is not there", file, m[1])
			}
		}
	}
}

// block matches a piece of text set apart as YAML.
var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestReadmeIsTrue: the README's kind renders to what the README says.
func TestReadmeIsTrue(t *testing.T) {
	text := section(t, "README.md", "## A kind in twenty lines")
	blocks := block.FindAllStringSubmatch(text, -1)
	if len(blocks) != 4 {
		t.Fatalf("README.md: the kind has %d blocks of YAML; CRD, template, resource and children were expected", len(blocks))
	}
	dir := t.TempDir()
	for i, file := range []string{"crds/pages.example.com.yaml", "templates/pages.example.com/page.yaml", "examples/pages.example.com.yaml"} {
		write(t, dir, file, blocks[i][1])
	}
	t.Chdir(dir)
	var out, trouble bytes.Buffer
	if code := cli.Main([]string{"render", "examples/pages.example.com.yaml"}, strings.NewReader(""), &out, &trouble); code != 0 {
		t.Fatalf("jacquard render: exit %d: %s", code, trouble.String())
	}
	if diff := cmp.Diff(blocks[3][1], out.String()); diff != "" {
		t.Errorf("README.md says otherwise than jacquard render (-README +render):\n%s", diff)
	}
}

var seconds = regexp.MustCompile(`[0-9.]+ s\b`)

// TestExampleIsTrue: the example of docs/templates.md does what it says.
func TestExampleIsTrue(t *testing.T) {
	blocks := block.FindAllStringSubmatch(section(t, guide, "### A complete example"), -1)
	if len(blocks) != 6 {
		t.Fatalf("%s: the example has %d blocks of YAML; 6 were expected", guide, len(blocks))
	}
	said := regexp.MustCompile("(?s)```\n(.*?)```").FindAllStringSubmatch(block.ReplaceAllString(section(t, guide, "### A complete example"),
		""), -1)
	crd := block.FindStringSubmatch(section(t, "README.md", "## A kind in twenty lines"))[1]
	dir := t.TempDir()
	write(t, dir, "crds/pages.example.com.yaml", crd)
	for i, file := range []string{"_page.tpl", "page.yaml", "server.yaml", "status.yaml", "tests/plain/resource.yaml", "tests/plain/cluster.yaml"} {
		write(t, dir, "templates/pages.example.com/"+file, blocks[i][1])
	}
	t.Chdir(dir)
	test := func(wantCode int, args ...string) string {
		var out, trouble bytes.Buffer
		if code := cli.Main(append([]string{"test"}, args...), strings.NewReader(""), &out, &trouble); code != wantCode || trouble.Len() > 0 {
			t.Errorf("jacquard test %v: exit %d: %s%s", args, code, out.String(), trouble.String())
		}
		return seconds.ReplaceAllString(out.String(), "0.01 s")
	}
	if diff := cmp.Diff(said[0][1], test(0, "--update")); diff != "" {
		t.Errorf("jacquard test --update says otherwise (-document +test):\n%s", diff)
	}
	write(t, dir, "templates/pages.example.com/server.yaml", strings.Replace(blocks[2][1], "nginx", "nginx:1.29", 1))
	if diff := cmp.Diff(said[1][1], test(1)); diff != "" {
		t.Errorf("jacquard test says otherwise (-document +test):\n%s", diff)
	}
}
