package controller

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A kindState is all that the operator knows of one kind. It needs the operator's mutex.
type kindState struct {
	source chosenSource
	// crd is the CRD as last seen, and answer as our last write answered it; or nil.
	crd    *apiextensionsv1.CustomResourceDefinition
	answer metav1.Object
	// cache lists the resources, and controller serves them; or nil.
	cache      *resourceCache
	controller *kindController
	// elsewhere says which other installation serves the kind, or our share of it,
	// or is "".
	elsewhere string
	// wasServed: this installation has served the kind. crdDeleted: so it did, and
	// the kind has a folder and no CRD any more.
	wasServed, crdDeleted bool
	// trouble is why the folder does not load, and unsettled why the kind cannot
	// be served, or "".
	trouble   error
	unsettled string
	// loaded: the folder has loaded since the start. taken is the digest of the
	// folder as last taken up, or why it does not load; "" before that.
	loaded bool
	taken  string
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
	rollback rollbackReport
	// revision is the digest of the version that the folder was loaded as last.
	revision string
	// unread: another replica may have written to the CRD what was not seen yet.
	unread bool
	// unable is true if this replica does not have the revision that serves all resources, and
	// areUnable if another one does not.
	unable, areUnable bool
	// announced is what was told of the kind.
	announced announcedKind
}

// A rollbackReport is the state of a kind that is rolled back, or of one that stopped and cannot
// be, with a text for people. It is zero for any other kind.
type rollbackReport struct {
	state verdict.State
	text  string
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

// An announcedKind is what was told of a kind, so that it is told once.
type announcedKind struct {
	// idle are sources that are not used, trouble what is wrong with the folder.
	idle, trouble string
	// lonely: the folder has no CRD.
	lonely bool
}

// named reports whether the kind has a folder, whether it could be read or not.
func (k *kindState) named() bool { return k.source.folder != nil || k.source.unread != nil }
