package kind

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// isManifest finds what stands in no map of settings.
var isManifest = regexp.MustCompile(`(?m)^(apiVersion: |kind: |---|\{\{)`)

var isKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// readConfig reads config.yaml, a map of settings by key; nil without one.
func readConfig(f *folder.File) (map[string]any, error) {
	if f == nil {
		return nil, nil
	}
	if m := isManifest.FindIndex(f.Data); m != nil {
		place := template.Place{File: f.Shown, Line: 1 + bytes.Count(f.Data[:m[0]], []byte("\n")), Column: 1}
		return nil, &template.Error{Place: place,
			Err: errors.New("config.yaml holds settings of the installation and makes no child: give the file another name")}
	}
	root, err := parseDocument(f)
	if err != nil || root == nil {
		return nil, err
	}
	return configOf(f, root)
}

// configOf reads one map of settings.
func configOf(f *folder.File, n *yaml.Node) (map[string]any, error) {
	d := &decoder{file: f, places: places{}}
	d.checkUnique(n)
	if n.Kind != yaml.MappingNode {
		d.addError(n, "it must be a map of settings by key")
		return nil, errors.Join(d.errs...)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !isKey.MatchString(key.Value) || key.Tag != "!!str" {
			d.addError(key, "%s is no key of a setting: a letter, then letters, digits and _", key.Value)
		}
	}
	if d.errs != nil {
		return nil, errors.Join(d.errs...)
	}
	return valuesOf(f, n)
}

// valuesOf returns the values of a sound map, as the API machinery has them.
func valuesOf(f *folder.File, n *yaml.Node) (map[string]any, error) {
	text, err := yaml.Marshal(n)
	if err != nil {
		return nil, notYAML(f, err)
	}
	raw, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, notYAML(f, err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, notYAML(f, err)
	}
	return v, nil
}

// checkUnique refuses keys that occur twice, aliases and tags.
func (d *decoder) checkUnique(n *yaml.Node) {
	first := map[string]*yaml.Node{}
	for i, item := range n.Content {
		if item.Kind == yaml.AliasNode || item.Anchor != "" {
			d.addError(item, "anchors and aliases are not allowed: write the value where it is needed")
			continue
		}
		d.checkUnique(item)
		if n.Kind != yaml.MappingNode || i%2 != 0 {
			continue
		}
		if before := first[item.Value]; before != nil {
			d.addError(item, "%s occurs twice: it stands at %s already", item.Value, placeOf(d.file, before))
		}
		first[item.Value] = item
	}
}

// overrides are settings of one kind that override those of its config.yaml, by key;
// without values there are none.
type overrides struct {
	values map[string]any
	places places
}

// overridesOf reads the settings of one kind.
func overridesOf(f *folder.File, n *yaml.Node) (overrides, error) {
	values, err := configOf(f, n)
	if err != nil {
		return overrides{}, err
	}
	o := overrides{values: values, places: places{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		o.places[n.Content[i].Value] = placeOf(f, n.Content[i])
	}
	return o, nil
}

// withOverrides returns the kind with settings that override its own, and a digest that
// says so. Keys that its config.yaml does not have are errors.
func (k *Kind) withOverrides(o overrides) (*Kind, error) {
	if o.values == nil {
		return k, nil
	}
	with := *k
	with.Config, with.Overrides = maps.Clone(k.Config), map[string]any{}
	maps.Copy(with.Overrides, k.Overrides)
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(o.values)) {
		if _, known := k.Config[key]; !known {
			errs = append(errs, &template.Error{Place: o.places[key],
				Err: fmt.Errorf("%s has no setting %s; %s", k.Name, key, k.settingsMeant(key))})
			continue
		}
		with.Config[key], with.Overrides[key] = o.values[key], o.values[key]
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(o.values) > 0 {
		with.Digest = digestWith(k.Digest, with.Config)
	}
	return &with, nil
}

// WithConfigFile returns the kind with the settings of a file that is written as
// config.yaml is. They override its own.
func (k *Kind) WithConfigFile(f *folder.File) (*Kind, error) {
	root, err := parseDocument(f)
	if err != nil {
		return nil, err
	}
	o := overrides{values: map[string]any{}}
	if root != nil {
		if o, err = overridesOf(f, root); err != nil {
			return nil, err
		}
	}
	return k.withOverrides(o)
}

// digestWith is the digest of a folder with other settings than its own.
func digestWith(digest string, config map[string]any) string {
	text, _ := json.Marshal(config) // values of JSON
	sum := sha256.Sum256(append([]byte(digest), text...))
	return hex.EncodeToString(sum[:])
}

func (k *Kind) settingsMeant(key string) string {
	if len(k.Config) == 0 {
		return "its folder has no config.yaml"
	}
	return suggestName(key, slices.Sorted(maps.Keys(k.Config)))
}

// A Config is a file of settings of the installation: a map of kinds' names to
// maps of keys to values.
type Config struct {
	kinds  map[string]overrides
	places places
}

// ReadConfig reads a file of settings. Its error joins what is wrong with it,
// with places.
func ReadConfig(shown string, data []byte) (*Config, error) {
	c := &Config{kinds: map[string]overrides{}, places: places{}}
	f := &folder.File{Name: shown, Shown: shown, Data: folder.Clean(data)}
	root, err := parseDocument(f)
	if err != nil || root == nil {
		return c, err
	}
	d := &decoder{file: f, places: c.places}
	d.checkUnique(root)
	if root.Kind != yaml.MappingNode {
		d.addError(root, "it must be a map of kinds' names, such as apps.example.com, to their settings")
		return c, errors.Join(d.errs...)
	}
	if d.errs != nil {
		return c, errors.Join(d.errs...)
	}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, settings := root.Content[i], root.Content[i+1]
		c.places[name.Value] = placeOf(f, name)
		of, err := overridesOf(f, settings)
		errs = append(errs, err)
		c.kinds[name.Value] = of
	}
	return c, errors.Join(errs...)
}

// Check refuses settings of kinds that there are none of; known are the names
// of all there are.
func (c *Config) Check(known []string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		if !slices.Contains(known, name) {
			errs = append(errs, &template.Error{Place: c.places[name], Err: fmt.Errorf("there is no kind %s; %s", name, suggestName(name, known))})
		}
	}
	return errors.Join(errs...)
}

// Apply returns the kind with the file's settings for it. A kind whose folder brings its
// own settings stays as it is.
func (c *Config) Apply(k *Kind) (*Kind, error) {
	if c == nil || k.Overrides != nil {
		return k, nil
	}
	return k.withOverrides(c.kinds[k.Name])
}
