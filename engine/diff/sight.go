package diff

import (
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/survey"
)

// A Sight is a kind of a live cluster and the folder that it is looked at with.
type Sight struct {
	*survey.Survey
	Kind   *survey.Kind
	Folder *kind.Kind
}
