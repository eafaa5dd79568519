package kind

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Settings is kind.yaml: what a folder says about itself. Every field is
// optional.
type Settings struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Version is the served version of the CRD that templates see; default the
	// storage version.
	Version string `json:"version,omitempty"`
	// Children are the kinds of children that no literal document says by
	// itself, and where those may be that are not in the resource's namespace.
	Children []ChildRule `json:"children,omitempty"`
	// Reads are what templates may read outside of the resource's namespace.
	Reads []ReadRule `json:"reads,omitempty"`
	// ServiceAccountName is the account of the resource's namespace that the
	// children are written and read as; default the operator's own.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// DeleteOrder are files, without .yaml: when a resource goes, the children
	// of each are gone before those of the next are deleted.
	DeleteOrder []string `json:"deleteOrder,omitempty"`
	// Rollout is how a changed folder reaches the resources.
	Rollout Rollout `json:"rollout,omitempty"`
	// AllowEmpty lets a resource render no children at all and have those it
	// had pruned.
	AllowEmpty bool `json:"allowEmpty,omitempty"`
	// LookAgain is how often the live children are listed even though no event
	// came; default 10 minutes, at least 10 seconds.
	LookAgain metav1.Duration `json:"lookAgain,omitempty"`
}

// A ChildRule declares a kind of child. A cluster-scoped kind must be declared.
type ChildRule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespaces is "own" (the default), "rendered" (a Namespace that the same
	// resource makes) or a list of names.
	Namespaces Namespaces `json:"namespaces,omitempty"`
}

// Namespaces says where objects of a kind may be.
type Namespaces struct {
	Rendered bool
	Listed   []string
}

// A ReadRule lets templates read a kind in those namespaces, only by those
// names if there are any. A cluster-scoped kind has no namespaces.
type ReadRule struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespaces []string `json:"namespaces,omitempty"`
	Names      []string `json:"names,omitempty"`
}

// A Rollout is how a changed folder reaches the resources that it changes.
type Rollout struct {
	// Waves are numbers of resources, or per cent of them; the rest follow.
	// Default 1, 5%, 25%.
	Waves []string `json:"waves,omitempty"`
	// ProgressDeadline is how long a wave may take until its resources that
	// were ready are ready again; default 10 minutes.
	ProgressDeadline metav1.Duration `json:"progressDeadline,omitempty"`
}

// places are those of the values of kind.yaml, by field.
type places map[string]template.Place

// The bounds of lookAgain.
const (
	DefaultLookAgain = 10 * time.Minute
	ShortestLook     = 10 * time.Second
)

const (
	settingsVersion = "jacquard.dev/v1alpha1"
	settingsKind    = "KindSettings"
)

// readSettings reads kind.yaml; without one everything has its default.
func readSettings(f *folder.File) (Settings, places, error) {
	s := Settings{APIVersion: settingsVersion, Kind: settingsKind, LookAgain: metav1.Duration{Duration: DefaultLookAgain}}
	if f == nil {
		return s, nil, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(f.Data, &doc); err != nil {
		return s, nil, notYAML(f, err)
	}
	if len(doc.Content) == 0 {
		return s, nil, nil
	}
	at := func(n *yaml.Node) template.Place {
		return template.Place{File: f.Shown, Line: n.Line, Column: n.Column}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return s, nil, &template.Error{Place: at(root), Err: errors.New("it must be a map of fields")}
	}
	written := places{}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if first, twice := written[key.Value]; twice {
			errs = append(errs, &template.Error{Place: at(key), Err: fmt.Errorf("%s occurs twice: it stands at %s already", key.Value, first)})
			continue
		}
		written[key.Value] = at(value)
		take, known := fields[key.Value]
		if !known {
			errs = append(errs, &template.Error{Place: at(key), Err: unknownField(key.Value)})
			continue
		}
		if wrong := take(&s, value); wrong != "" {
			errs = append(errs, &template.Error{Place: at(value), Err: fmt.Errorf("%s %s", key.Value, wrong)})
		}
	}
	return s, written, errors.Join(errs...)
}

// fields take the value of a field of kind.yaml, or say what is wrong with it.
var fields = map[string]func(*Settings, *yaml.Node) string{
	"apiVersion": func(_ *Settings, n *yaml.Node) string { return mustBe(n, settingsVersion) },
	"kind":       func(_ *Settings, n *yaml.Node) string { return mustBe(n, settingsKind) },
	"version": func(s *Settings, n *yaml.Node) string {
		if n.Tag != "!!str" || n.Kind != yaml.ScalarNode {
			return "must be a text, such as v1"
		}
		s.Version = n.Value
		return ""
	},
	"allowEmpty": func(s *Settings, n *yaml.Node) string {
		if n.Tag != "!!bool" || n.Decode(&s.AllowEmpty) != nil {
			return "must be true or false"
		}
		return ""
	},
	"lookAgain": func(s *Settings, n *yaml.Node) string {
		d, err := time.ParseDuration(n.Value)
		if err != nil || n.Kind != yaml.ScalarNode {
			return "must be a duration, such as 10m or 90s"
		}
		if d < ShortestLook {
			return "must be at least " + ShortestLook.String()
		}
		s.LookAgain.Duration = d
		return ""
	},
}

func mustBe(n *yaml.Node, want string) string {
	if n.Kind != yaml.ScalarNode || n.Value != want {
		return "must be " + want
	}
	return ""
}

func unknownField(name string) error {
	if near := schema.Suggest(name, slices.Sorted(maps.Keys(fields))); near != "" {
		return fmt.Errorf("unknown field %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown field %s; there are %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
}

var yamlLine = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// notYAML gives the parser's error its place.
func notYAML(f *folder.File, err error) error {
	place := template.Place{File: f.Shown, Line: 1, Column: 1}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if line, digits := strconv.Atoi(m[1]); digits == nil {
			place.Line = line
		}
		err = errors.New(m[2])
	}
	return &template.Error{Place: place, Err: err}
}

// about gives an error the place of a field of kind.yaml, or the folder's name
// if the field is not written.
func (p places) about(field, folder string, err error) error {
	if place, written := p[field]; written {
		return &template.Error{Place: place, Err: err}
	}
	return fmt.Errorf("compiling folder %s: %w", folder, err)
}
