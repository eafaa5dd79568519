package revision

import (
	"fmt"
	"io/fs"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A DeletionList is what a stopped rollout would delete. It is stored as revisions are,
// where the rollout's record has no place for all of it.
type DeletionList struct {
	// Kind is the name of the CRD.
	Kind string

	stop    string
	archive []byte
	wrong   error
	stored  []metav1.Object
}

// deletionsFile is the only file of the archive.
const deletionsFile = "deletions"

// NewDeletionList makes the list of a stop.
func NewDeletionList(kindName, stop string, text []byte) (*DeletionList, error) {
	archive, err := packFiles(map[string][]byte{deletionsFile: text})
	if err != nil {
		return nil, fmt.Errorf("listing deletions of %s: %w", kindName, err)
	}
	return &DeletionList{Kind: kindName, stop: shortHash(stop), archive: archive}, nil
}

// DeletionSelector selects the ControllerRevisions of Objects, as Selector those of
// revisions.
func DeletionSelector(identity, kindName string) string {
	return selectorOf(api.LabelStop, identity, kindName)
}

// Objects are the ControllerRevisions that hold the list, as they are applied. They go
// with the CRD at the latest.
func (l *DeletionList) Objects(namespace, identity string, crd metav1.OwnerReference) []*unstructured.Unstructured {
	all := storedObjects(l.archive, fmt.Sprintf("jacquard-%s-stop-%s", shortHash(identity+" "+l.Kind), l.stop), identity, l.Kind)
	for _, o := range all {
		o.SetNamespace(namespace)
		o.SetOwnerReferences([]metav1.OwnerReference{crd})
		addLabel(o, api.LabelStop, l.stop)
	}
	return all
}

// ReadDeletionLists makes lists of the ControllerRevisions of one kind and installation.
func ReadDeletionLists(items []appsv1.ControllerRevision) []*DeletionList {
	var all []*DeletionList
	for stop, parts := range byLabel(items, api.LabelStop) {
		l := &DeletionList{Kind: parts[0].Annotations[api.AnnotationKind], stop: stop}
		for _, p := range parts {
			l.stored = append(l.stored, p)
		}
		l.archive, l.wrong = joinParts(parts)
		all = append(all, l)
	}
	return all
}

// Stored are the ControllerRevisions that hold the list.
func (l *DeletionList) Stored() []metav1.Object { return l.stored }

// IsOf reports whether it is the list of a stop, and is stored whole.
func (l *DeletionList) IsOf(stop string) bool { return l.wrong == nil && l.stop == shortHash(stop) }

// Text is what NewDeletionList was given.
func (l *DeletionList) Text() ([]byte, error) {
	if l.wrong != nil {
		return nil, l.wrong
	}
	files, err := openArchive(l.archive)
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, deletionsFile)
	if err != nil {
		return nil, fmt.Errorf("reading its archive: %w", err)
	}
	return text, nil
}
