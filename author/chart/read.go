package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// A chart is the files of a Helm chart, as read.
type chart struct {
	name, version string
	// about is Chart.yaml.
	about map[string]any
	// values is the mapping of values.yaml; nil if it is empty.
	values *yaml.Node
	// schema is values.schema.json, or nil.
	schema map[string]any
	// sources are the templates; files, by path, what templates may take as it
	// is; crds the files of crds/.
	sources     []*source
	files, crds map[string][]byte
	// dependencies are the subcharts that Chart.yaml names.
	dependencies []dependency
}

// A dependency is a subchart and the condition that switches it on.
type dependency struct {
	Name      string `json:"name"`
	Condition string `json:"condition"`
}

// readChart reads the chart at the root of a file system.
func readChart(fsys fs.FS) (*chart, error) {
	c := &chart{files: map[string][]byte{}, crds: map[string][]byte{}}
	if err := c.readAbout(fsys); err != nil {
		return nil, err
	}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return c.addFile(name, data)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	slices.SortFunc(c.sources, func(a, b *source) int { return strings.Compare(a.name, b.name) })
	return c, nil
}

func (c *chart) readAbout(fsys fs.FS) error {
	data, err := fs.ReadFile(fsys, "Chart.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("reading the chart: there is no Chart.yaml: give the directory of an unpacked chart")
	}
	if err != nil {
		return fmt.Errorf("reading the chart: %w", err)
	}
	if err := sigsyaml.Unmarshal(data, &c.about); err != nil {
		return fmt.Errorf("reading Chart.yaml: %w", err)
	}
	var known struct {
		Name         string       `json:"name"`
		Version      string       `json:"version"`
		Dependencies []dependency `json:"dependencies"`
	}
	if err := sigsyaml.Unmarshal(data, &known); err != nil {
		return fmt.Errorf("reading Chart.yaml: %w", err)
	}
	if known.Name == "" {
		return errors.New("reading Chart.yaml: it has no name")
	}
	c.name, c.version, c.dependencies = known.Name, known.Version, known.Dependencies
	return nil
}

// addFile sorts one file by where it lies.
func (c *chart) addFile(name string, data []byte) error {
	switch dir, rest, below := strings.Cut(name, "/"); {
	case name == "values.yaml":
		return c.readValues(data)
	case name == "values.schema.json":
		if err := json.Unmarshal(data, &c.schema); err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	case below && dir == "templates":
		c.sources = append(c.sources, &source{name: name, as: asName(rest), text: string(folder.Clean(data))})
	case below && dir == "crds":
		c.crds[name] = data
	case below && dir == "charts":
		c.takeLibrary(name, rest, data)
	default:
		c.files[name] = data
	}
	return nil
}

// takeLibrary takes the partials of subcharts: those that a chart calls work
// in its own place.
func (c *chart) takeLibrary(name, rest string, data []byte) {
	sub, rest, _ := strings.Cut(rest, "/")
	file, ok := strings.CutPrefix(rest, "templates/")
	if ok && strings.HasPrefix(path.Base(file), "_") {
		s := &source{name: name, as: asName(path.Join(path.Dir(file), "_"+sub+"-"+strings.TrimLeft(path.Base(file), "_")))}
		s.text, s.library = string(folder.Clean(data)), true
		c.sources = append(c.sources, s)
	}
}

func (c *chart) readValues(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("reading values.yaml: %w", err)
	}
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return fmt.Errorf("reading values.yaml: it is no map")
	}
	c.values = doc.Content[0]
	return nil
}

// reserved are names that a folder has for other things.
var reserved = []string{"status.yaml", "kind.yaml", "config.yaml"}

// asName is what a template is called in a folder, which has no folders.
func asName(file string) string {
	base := path.Base(file)
	flat := strings.ReplaceAll(strings.TrimPrefix(path.Join(path.Dir(file), strings.TrimLeft(base, "_")), "./"), "/", "-")
	stem := strings.TrimSuffix(flat, path.Ext(flat))
	if strings.HasPrefix(base, "_") {
		return "_" + stem + ".tpl"
	}
	if name := stem + ".yaml"; !slices.Contains(reserved, name) {
		return name
	}
	return "the-" + stem + ".yaml"
}
