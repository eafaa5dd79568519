package laws

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A manifest is what these tests ask of the package.json of the extension.
type manifest struct {
	Main         string
	Capabilities struct {
		UntrustedWorkspaces struct {
			Supported                string
			RestrictedConfigurations []string
		}
	}
	Contributes struct {
		Configuration struct {
			Properties map[string]struct{ Scope string }
		}
		Grammars []struct{ Path string }
	}
	Dependencies map[string]string
}

func readManifest(t *testing.T, data []byte) (m manifest) {
	t.Helper()
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEditorTrust: a workspace that is not trusted gets diagnostics only, and none says
// which program is started.
func TestEditorTrust(t *testing.T) {
	m := readManifest(t, read(t, "editors/vscode/package.json"))
	if trust := m.Capabilities.UntrustedWorkspaces; trust.Supported != "limited" || !slices.Contains(trust.RestrictedConfigurations, "jacquard.path") {
		t.Errorf("untrustedWorkspaces is %+v", trust)
	}
	for name, p := range m.Contributes.Configuration.Properties {
		if p.Scope != "machine" {
			t.Errorf("a workspace can set %s: its scope is %q", name, p.Scope)
		}
	}
	if len(m.Contributes.Configuration.Properties) == 0 {
		t.Error("there is no setting for the path of the binary")
	}
	source := string(read(t, "editors/vscode/extension.js"))
	if !strings.Contains(source, "diagnosticsOnly: !vscode.workspace.isTrusted") {
		t.Error("extension.js does not tell the server whether the workspace is trusted")
	}
	for _, setting := range regexp.MustCompile(`getConfiguration\("jacquard"\)\.get\("(\w+)"`).FindAllStringSubmatch(source, -1) {
		if _, declared := m.Contributes.Configuration.Properties["jacquard."+setting[1]]; !declared {
			t.Errorf("extension.js reads the setting %s, which package.json does not declare", setting[1])
		}
	}
}

// TestEditorLock: the lock of the extension's packages names no host: it holds for any
// registry, by its checksums.
func TestEditorLock(t *testing.T) {
	text := string(read(t, "editors/vscode/package-lock.json"))
	if strings.Contains(text, `"resolved"`) || strings.Contains(text, "registry") {
		t.Error("package-lock.json names a registry")
	}
	if !strings.Contains(text, `"integrity": "sha512-`) {
		t.Error("package-lock.json has no checksums")
	}
}

// TestEditorPackage: what make vsix built has all that runs, and nothing else.
func TestEditorPackage(t *testing.T) {
	file := filepath.Join("dist", "jacquard.vsix")
	if _, err := os.Stat(file); err != nil {
		t.Skip("dist/jacquard.vsix is not built: make vsix, which needs npm")
	}
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	inside := map[string]string{}
	for _, f := range archive.File {
		open, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(open)
		if err != nil {
			t.Fatal(err)
		}
		inside[f.Name] = string(data)
	}
	if inside["extension/extension.js"] != string(read(t, "editors/vscode/extension.js")) {
		t.Skip("dist/jacquard.vsix is of another state of editors/vscode: make vsix, which needs npm")
	}
	var names []string
	for name := range inside {
		if below, ours := strings.CutPrefix(name, "extension/"); ours && !strings.HasPrefix(below, "node_modules/") {
			names = append(names, below)
		}
	}
	slices.Sort(names)
	want := []string{"LICENSE.txt", "extension.js", "jacquard.tmLanguage.json", "language-configuration.json", "package.json", "readme.md"}
	if !slices.Equal(names, want) {
		t.Errorf("the extension holds %q, want %q", names, want)
	}
	m := readManifest(t, []byte(inside["extension/package.json"]))
	for name := range m.Dependencies {
		if inside["extension/node_modules/"+name+"/package.json"] == "" {
			t.Errorf("%s is not in the extension", name)
		}
	}
	if inside["extension/node_modules/vscode-languageclient/node.js"] == "" || inside["extension/node_modules/typescript/package.json"] != "" {
		t.Error("the extension does not hold exactly what runs")
	}
}
