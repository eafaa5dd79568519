package diff

import (
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A Sight is a kind of a live cluster and the folder that it is looked at with.
type Sight struct {
	*liveview.Survey
	Kind   *liveview.Kind
	Folder *kind.Kind
}
