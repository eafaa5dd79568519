package kind

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/status/health"
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
	// itself, and where those may be that may be outside of the resource's
	// namespace.
	Children []ChildRule `json:"children,omitempty"`
	// Reads are what templates may read outside of the resource's namespace.
	Reads []ReadRule `json:"reads,omitempty"`
	// Retired are the kinds that earlier folders made or patched and this one
	// does not: the rights to find what is left of them, and to delete it or to
	// give it back, are kept.
	Retired []RetiredRule `json:"retired,omitempty"`
	// ServiceAccountName is the account of the resource's namespace that the
	// children are written and read as; default the operator's own.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// DeletionOrder are files, without .yaml, none where an earlier folder had some
	// whose finalizers are to come off: when a resource goes, the children
	// of each are gone before those of the next are deleted.
	DeletionOrder []string `json:"deletionOrder,omitempty" was:"deleteOrder"`
	// Rollout is how a changed folder reaches the resources.
	Rollout Rollout `json:"rollout,omitempty"`
	// AllowEmpty lets a resource render no children at all and have those it
	// had pruned.
	AllowEmpty bool `json:"allowEmpty,omitempty"`
	// ReportPodReasons lets the operator list the Pods of a child that has not been ready for
	// 30 seconds, and tell in the status of the resource what they wait for.
	ReportPodReasons bool `json:"reportPodReasons,omitempty" was:"podReasons"`
	// ResyncInterval is how often the live children are listed even though no event
	// came; default 10 minutes, at least 5 seconds.
	ResyncInterval metav1.Duration `json:"resyncInterval,omitempty" was:"lookAgain"`
	// HealthCheckExprs are CEL expressions that decide whether children are ready, in
	// the format of Flux's field of that name.
	HealthCheckExprs []health.Entry `json:"healthCheckExprs,omitempty"`
}

// A ChildRule declares a kind of child. A cluster-scoped kind must be declared.
type ChildRule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespaces is "own" (the default), "rendered" (a Namespace that the same
	// resource makes) or a list of names.
	Namespaces Namespaces `json:"namespaces,omitempty"`
}

// A RetiredRule names a kind that an earlier folder made or patched.
type RetiredRule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Namespaces is where its objects may be, as children said it.
	Namespaces Namespaces `json:"namespaces,omitempty"`
	// Ownership is "patch" if its objects were patched, not made.
	Ownership string `json:"ownership,omitempty"`
	// Subresource is the one that was patched; default the object itself.
	Subresource string `json:"subresource,omitempty"`
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
	// Waves are how many resources change at a time; the rest follow in a last
	// wave. Default 1, 5%, 25%.
	Waves []Wave `json:"waves,omitempty"`
	// ProgressDeadline is how long a wave may take until its resources that
	// were ready are ready again; default 10 minutes, at least 5 seconds.
	ProgressDeadline metav1.Duration `json:"progressDeadline,omitempty"`
	// MinReadySeconds is for how long the resources of a wave must be ready before
	// the next wave begins, in seconds; default 0. A wave may have its own.
	MinReadySeconds int `json:"minReadySeconds,omitempty"`
	// MaxFailures is how many resources of a wave may be not ready when its
	// progressDeadline is over, without stopping the rollout; default 1 in a wave of
	// more than 10 resources, else 0.
	MaxFailures *int `json:"maxFailures,omitempty"`
	// OnFailure is what becomes of a rollout that stops since resources are not ready or
	// refused: "stop" (the default) waits for a person, and "rollback" goes back to the
	// revision before it, once for a folder.
	OnFailure string `json:"onFailure,omitempty"`
}

// A Wave is which resources change at a time; in kind.yaml a text is its size.
type Wave struct {
	// Size is a number of resources, or per cent of those that change, such as 5%.
	Size string `json:"size,omitempty"`
	// MatchLabels selects, in place of a size, the resources with all these labels.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// NamespaceMatchLabels does so by the labels of the namespaces that they are in;
	// with both, a resource of the wave has all of both.
	NamespaceMatchLabels map[string]string `json:"namespaceMatchLabels,omitempty"`
	// MinReadySeconds is that of this wave; default that of the rollout.
	MinReadySeconds *int `json:"minReadySeconds,omitempty"`
	// Pause stops the rollout after this wave, until it is approved.
	Pause bool `json:"pause,omitempty"`
}

// ByLabels reports whether the wave selects resources by labels.
func (w Wave) ByLabels() bool { return w.MatchLabels != nil || w.NamespaceMatchLabels != nil }

// Sizes are waves of these sizes.
func Sizes(sizes ...string) []Wave {
	waves := make([]Wave, len(sizes))
	for i, size := range sizes {
		waves[i].Size = size
	}
	return waves
}

// Elsewhere reports whether objects may be outside of the resource's namespace.
func (n Namespaces) Elsewhere() bool { return n.Rendered || n.Listed != nil }

// ignoredFields are fields of kind.yaml that had an effect once, with why they have none. They are
// accepted, so that a folder that has one still loads, and reported by Ignored.
var ignoredFields = map[string]string{"shardBy": "replicas divide resources by their uids"}

// The values of Rollout.OnFailure.
const (
	OnFailureStop     = "stop"
	OnFailureRollback = "rollback"
)

// The bounds of durations, and what they are if not written.
const (
	DefaultResyncInterval   = 10 * time.Minute
	defaultProgressDeadline = 10 * time.Minute
	shortestDuration        = 5 * time.Second
)

// defaultWaves are the waves of a rollout if none are written; an empty list
// means none.
func defaultWaves() []Wave { return Sizes("1", "5%", "25%") }

const (
	settingsVersion = "jacquard.dev/v1alpha1"
	settingsKind    = "KindSettings"
)

// readSettings reads kind.yaml; without one everything has its default, and no
// places are known.
func readSettings(f *folder.File) (Settings, places, error) {
	s := Settings{
		APIVersion: settingsVersion, Kind: settingsKind, ResyncInterval: metav1.Duration{Duration: DefaultResyncInterval},
		Rollout: Rollout{Waves: defaultWaves(), ProgressDeadline: metav1.Duration{Duration: defaultProgressDeadline}},
	}
	if f == nil {
		return s, nil, nil
	}
	root, err := parseDocument(f)
	if err != nil || root == nil {
		return s, nil, err
	}
	d := &decoder{file: f, places: places{}}
	d.decodeValue(root, reflect.ValueOf(&s).Elem(), "")
	return s, d.places, errors.Join(d.errs...)
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

// errorAt gives an error the place of a field of kind.yaml, or the folder's name if the field is
// not written.
func (p places) errorAt(field, folderName string, err error) error {
	if place, written := p[field]; written {
		return &template.Error{Place: place, Err: err}
	}
	return fmt.Errorf("compiling folder %s: %w", folderName, err)
}
