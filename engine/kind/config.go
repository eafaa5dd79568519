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
	root, err := document(f)
	if err != nil || root == nil {
		return nil, err
	}
	return configOf(f, root)
}

// configOf reads one map of settings.
func configOf(f *folder.File, n *yaml.Node) (map[string]any, error) {
	d := &decoder{file: f, places: places{}}
	d.unique(n)
	if n.Kind != yaml.MappingNode {
		d.fail(n, "it must be a map of settings by key")
		return nil, errors.Join(d.errs...)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !isKey.MatchString(key.Value) || key.Tag != "!!str" {
			d.fail(key, "%s is no key of a setting: a letter, then letters, digits and _", key.Value)
		}
	}
	if d.errs != nil {
		return nil, errors.Join(d.errs...)
	}
	return values(f, n)
}

// values are the values of a sound map, as the API machinery has them.
func values(f *folder.File, n *yaml.Node) (map[string]any, error) {
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

// unique refuses keys that occur twice, aliases and tags.
func (d *decoder) unique(n *yaml.Node) {
	first := map[string]*yaml.Node{}
	for i, item := range n.Content {
		if item.Kind == yaml.AliasNode || item.Anchor != "" {
			d.fail(item, "anchors and aliases are not allowed: write the value where it is needed")
			continue
		}
		d.unique(item)
		if n.Kind != yaml.MappingNode || i%2 != 0 {
			continue
		}
		if before := first[item.Value]; before != nil {
			d.fail(item, "%s occurs twice: it stands at %s already", item.Value, placeOf(d.file, before))
		}
		first[item.Value] = item
	}
}

// withConfig returns the kind with settings that override those of its
// config.yaml, and a digest that says so; keys that this does not have are errors.
func (k *Kind) withConfig(config map[string]any) (*Kind, error) {
	if len(config) == 0 {
		return k, nil
	}
	merged := maps.Clone(k.Config)
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if _, known := k.Config[key]; !known {
			errs = append(errs, fmt.Errorf("config of %s: there is no setting %s; %s", k.Name, key, k.settingsMeant(key)))
			continue
		}
		merged[key] = config[key]
	}
	with := *k
	with.Config = merged
	with.Digest, with.overridden = digestWith(k.Digest, merged), true
	return &with, errors.Join(errs...)
}

// Overridden reports whether settings override those of the folder's config.yaml.
func (k *Kind) Overridden() bool { return k.overridden }

// WithConfigFile is withConfig with the settings of a file that is written as
// config.yaml is; shown is how errors call it.
func (k *Kind) WithConfigFile(shown string, data []byte) (*Kind, error) {
	config, err := readConfig(&folder.File{Name: "config.yaml", Shown: shown, Data: data})
	if err != nil {
		return nil, err
	}
	with, err := k.withConfig(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	return with, nil
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
	return meant(key, slices.Sorted(maps.Keys(k.Config)))
}

// A Config is a file of settings of the installation: a map of kinds' names to
// maps of keys to values.
type Config struct {
	values map[string]map[string]any
	places places
}

// ReadConfig reads a file of settings. Its error joins what is wrong with it,
// with places.
func ReadConfig(shown string, data []byte) (*Config, error) {
	c := &Config{values: map[string]map[string]any{}, places: places{}}
	f := &folder.File{Name: shown, Shown: shown, Data: folder.Clean(data)}
	root, err := document(f)
	if err != nil || root == nil {
		return c, err
	}
	d := &decoder{file: f, places: c.places}
	d.unique(root)
	if root.Kind != yaml.MappingNode {
		d.fail(root, "it must be a map of kinds' names, such as apps.example.com, to their settings")
		return c, errors.Join(d.errs...)
	}
	if d.errs != nil {
		return c, errors.Join(d.errs...)
	}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, settings := root.Content[i], root.Content[i+1]
		c.places[name.Value] = placeOf(f, name)
		values, err := configOf(f, settings)
		errs = append(errs, err)
		for j := 0; err == nil && j+1 < len(settings.Content); j += 2 {
			c.places[name.Value+" "+settings.Content[j].Value] = placeOf(f, settings.Content[j])
		}
		c.values[name.Value] = values
	}
	return c, errors.Join(errs...)
}

// Check refuses settings of kinds that there are none of; known are the names
// of all there are.
func (c *Config) Check(known []string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if !slices.Contains(known, name) {
			errs = append(errs, &template.Error{Place: c.places[name], Err: fmt.Errorf("there is no kind %s; %s", name, meant(name, known))})
		}
	}
	return errors.Join(errs...)
}

// Apply returns the kind with the file's settings for it.
func (c *Config) Apply(k *Kind) (*Kind, error) {
	if c == nil {
		return k, nil
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(c.values[k.Name])) {
		if _, known := k.Config[key]; !known {
			errs = append(errs, &template.Error{Place: c.places[k.Name+" "+key],
				Err: fmt.Errorf("%s has no setting %s; %s", k.Name, key, k.settingsMeant(key))})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return k, err
	}
	return k.withConfig(c.values[k.Name])
}
