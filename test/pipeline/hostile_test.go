package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
)

// hostile is a text that tries to leave wherever it is put.
const hostile = "\n```\n````\n~~~\n@octocat #1 <img src=x onerror=alert(1)> ![a](https://evil.example) [b](https://evil.example) https://evil.example\n" +
	"</details><!-- | a | `b` \u202egnp.exe \u200b\x1b[31m\r::add-mask::x\n::set-output name=failed::false\n"

// TestHostile: a folder of a stranger whose names and texts are Markdown, HTML,
// mentions and commands to the runner. What is told of it is text.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir := base(t)
	files := map[string]string{
		// a file, a case and a kind by such names
		"templates/pages.pipeline.example.com/`@octocat` ![a](x)|<b>\u202e.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: {{ .spec.a }}}\n",
		"templates/pages.pipeline.example.com/``` \n::add-mask::x\n@octocat.yaml":   "kind: {{ .spec.b }}\n",
		"templates/@octocat `<b>`.example.com/a.yaml":                               "a: b\n",
		"templates/pages.pipeline.example.com/tests/@octocat ``` <b>/resource.yaml": "kind: Page\napiVersion: pipeline.example.com/v1\nmetadata: {name: '@octocat'}\n",
		// texts in messages and in lines that are quoted
		"templates/pages.pipeline.example.com/page.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .metadata.name }}}\ndata:\n" +
			"  a: \"{{ .spec.text | funktion }} ``` @octocat <b> \u202e\"\n",
		"templates/logins.pipeline.example.com/tests/plain/want.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: shop, namespace: default}\n" +
			"stringData: {text: " + quoted(hostile) + "}\n",
		"templates/logins.pipeline.example.com/text.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .metadata.name }}}\ndata:\n  text: " + quoted(hostile) + "\n",
	}
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, commit)
	r := start(t, dir, fork("stranger/kinds"), nil)
	r.obeys(t)
	r.judge(t, "hostile", true)
}

// TestLinks: links to files of the runner are refused, wherever they are, and nothing
// of these files is told.
func TestLinks(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(secret, []byte("password-of-the-runner: hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const logins = "templates/logins.pipeline.example.com/"
	for _, link := range []string{
		"crds/links.example.com.yaml", "schemas/links.yaml", "examples/links.example.com.yaml", logins + "link.yaml", logins + "kind.yaml",
		logins + "files/link", logins + "tests/plain/cluster.yaml", logins + "tests/plain/want-status.yaml", "templates/_lib/link.tpl",
	} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			dir := base(t)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(secret, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
			for _, command := range [][]string{{"lint"}, {"lint", "-o", "markdown"}, {"lint", "-o", "sarif"}, {"test"}, {"test", "-o", "markdown"}} {
				var said bytes.Buffer
				code := cli.Main(append(command, "--root", dir), strings.NewReader(""), &said, &said)
				if strings.Contains(said.String(), "hunter2") {
					t.Errorf("jacquard %v tells the file:\n%s", command, said.String())
				}
				if code == 0 && command[0] == "lint" && !strings.Contains(link, "/tests/") {
					t.Errorf("jacquard %v accepts it:\n%s", command, said.String())
				}
			}
		})
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x1b", `\e`, "\u202e", `\u202e`, "\u200b", `\u200b`).Replace(text) + `"`
}

// obeys reads the log as a runner does: the commands that it obeys are those of the
// action alone.
func (r run) obeys(t *testing.T) {
	t.Helper()
	stopped := ""
	for line := range strings.Lines(strings.ReplaceAll(r.log, "\r", "\n")) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "::")
		name, rest, _ := strings.Cut(command, "::")
		name, _, _ = strings.Cut(name, " ")
		switch {
		case !is:
		case stopped != "":
			if name == stopped && rest == "" {
				stopped = ""
			}
		case name == "stop-commands":
			stopped = rest
		case name != "error" && name != "notice":
			t.Errorf("the runner obeys %q", line)
		}
	}
	if stopped != "" {
		t.Error("the runner is never told to listen again")
	}
	if !strings.Contains(r.log, "::stop-commands::") {
		t.Errorf("the log has no text of others:\n%s", r.log)
	}
}
