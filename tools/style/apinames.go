package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// apiModules have the types of the Kubernetes API.
var apiModules = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver"}

// kindSchema is the JSON schema of kind.yaml.
const kindSchema = "docs/kind.schema.json"

// apiNames are names outside a package and its imports that comments may use anyway.
type apiNames struct {
	// words are fields and constants of the Kubernetes API, and fields of kind.yaml.
	words map[string]bool
	// documented caches whether `go doc` knows a name of the standard library.
	documented map[string]bool
}

// hasName reports whether a name is known. Names of the standard library count with their package, as
// in encoding.TextMarshaler: such interfaces are implemented without an import.
func (n *apiNames) hasName(name string) bool {
	if !qualified.MatchString(name) {
		return n.words[name]
	}
	known, ok := n.documented[name]
	if !ok {
		cmd := exec.Command("go", "doc", "-short", name)
		cmd.Env = append(os.Environ(), "GO111MODULE=off", "GOFLAGS=")
		known = cmd.Run() == nil
		n.documented[name] = known
	}
	return known
}

// readAPINames reads the names of the APIs from the modules that a module requires.
func readAPINames(dir string) (*apiNames, error) {
	n := &apiNames{words: map[string]bool{}, documented: map[string]bool{}}
	cmd := exec.Command("go", append([]string{"mod", "download", "-json"}, apiModules...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("downloading %q: %w: %s", apiModules, err, out)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var module struct{ Dir string }
		if err := dec.Decode(&module); err != nil {
			return nil, err
		}
		if err := n.addTypes(module.Dir); err != nil {
			return nil, err
		}
	}
	schema, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(kindSchema)))
	if err != nil {
		return nil, err
	}
	var document any
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", kindSchema, err)
	}
	n.addProperties(document)
	return n, nil
}

// apiWord matches the name of a field in its tag, and a constant such as a finalizer.
var apiWord = regexp.MustCompile(`"([a-z][A-Za-z0-9]*)[",]`)

// addTypes adds the fields and constants of all API types in a folder.
func (n *apiNames) addTypes(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "types") || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range apiWord.FindAllStringSubmatch(string(text), -1) {
			n.words[m[1]] = true
		}
		return nil
	})
}

// addProperties adds the properties of a JSON schema, however deep.
func (n *apiNames) addProperties(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				n.words[name] = true
			}
		}
		for _, value := range slices.Collect(maps.Values(s)) {
			n.addProperties(value)
		}
	case []any:
		for _, value := range s {
			n.addProperties(value)
		}
	}
}
