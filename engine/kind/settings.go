package kind

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// Settings is kind.yaml: what a folder says about itself. Every field is
// optional.
type Settings struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Version is the served version of the CRD that templates see; default the
	// storage version.
	Version string `json:"version,omitempty"`
	// AllowEmpty lets a resource render no children at all and have those it
	// had pruned.
	AllowEmpty bool `json:"allowEmpty,omitempty"`
	// LookAgain is how often the live children are listed even though no event
	// came; default 10 minutes, at least 10 seconds.
	LookAgain metav1.Duration `json:"lookAgain,omitempty"`
}

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
func readSettings(f *folder.File) (Settings, error) {
	s := Settings{APIVersion: settingsVersion, Kind: settingsKind, LookAgain: metav1.Duration{Duration: DefaultLookAgain}}
	if f == nil {
		return s, nil
	}
	if err := yaml.UnmarshalStrict(f.Data, &s); err != nil {
		return s, fmt.Errorf("%s: reading the kind's settings: %w", f.Shown, err)
	}
	if s.APIVersion != settingsVersion || s.Kind != settingsKind {
		return s, fmt.Errorf("%s: it must say apiVersion: %s and kind: %s", f.Shown, settingsVersion, settingsKind)
	}
	if s.LookAgain.Duration < ShortestLook {
		return s, fmt.Errorf("%s: lookAgain: must be at least %s", f.Shown, ShortestLook)
	}
	return s, nil
}
