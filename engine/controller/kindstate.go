package controller

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// A kindState is all that the operator knows of one kind. It needs the operator's mutex.
type kindState struct {
	source chosenSource
	// crd is the CRD as last seen, and answer as our last write answered it; or nil.
	crd    *apiextensionsv1.CustomResourceDefinition
	answer metav1.Object
	// listing is what the resources are listed of, or zero; controller serves them, or is nil.
	listing    listing
	controller *kindController
	// epoch is how often another part of the resources was served than before.
	epoch int
	// wasServed: this installation has served the kind.
	wasServed bool
	// unsettled is why the last pass could not finish, or "".
	unsettled string
	// loaded: the folder has loaded since the start.
	loaded bool
	// hasCounted: a folder, or that there is none, has counted since the start.
	hasCounted bool
	// synced is the digest of the folder's files that the kind was synced with last.
	synced string
	// compiled is what the folder was compiled to last.
	compiled compiledFolder
	// archives are the revisions in use, by digest; kept are those that were stored when that was
	// looked at last.
	archives map[string]*revision.Revision
	kept     map[rollout.Revision]bool
	// unread: another replica may have written to the CRD what was not seen yet.
	unread bool
	// areUnable is true if another replica does not have the revision that serves all resources.
	areUnable bool
	report    kindReport
}

// A listing identifies whose resources are listed. Followers list them too, so that whoever becomes
// the leader need not list them first.
type listing struct {
	gvk    apischema.GroupVersionKind
	crdUID types.UID
}

// A chosenSource is where the folder of a kind comes from, and what is in it.
type chosenSource struct {
	// folder is nil if it could not be read, or there is none.
	folder *folder.Folder
	unread error
	shown  string
	// brought: it came with the operator.
	brought bool
	// isRooted: it is in one of the operator's roots.
	isRooted bool
	// idle are further sources, which are not used.
	idle []string
}

// hasFolder reports whether the kind has a folder, whether it could be read or not.
func (k *kindState) hasFolder() bool { return k.source.folder != nil || k.source.unread != nil }
