package revision

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Resource is how every cluster serves ControllerRevisions.
var Resource = live.Resource{
	GVR:        schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"},
	GVK:        schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ControllerRevision"},
	Namespaced: true,
}

// data is what a ControllerRevision holds: a part of the archive. The API server
// takes any JSON, and never lets it be changed.
type data struct {
	Zip []byte `json:"zip"`
}

// partSize is how much of an archive is in one ControllerRevision: base64 and etcd's
// limit of 1.5 MiB considered. It is a variable for tests.
var partSize = 700 << 10

// Selector selects the ControllerRevisions of an installation, or, if identity is
// "", of all; of a kind, or, if that is "", of all kinds.
func Selector(identity, kindName string) string {
	return selectorOf(api.LabelRevision, identity, kindName)
}

func selectorOf(label, identity, kindName string) string {
	terms := []string{label}
	if kindName != "" {
		terms = append(terms, api.LabelKind+"="+labelValue(kindName))
	}
	if identity != "" {
		terms = append(terms, api.LabelInstallation+"="+shortHash(identity))
	}
	return strings.Join(terms, ",")
}

// labelValue returns the name of a kind as the value of a label, which may be 63 bytes long.
func labelValue(kindName string) string {
	if len(kindName) <= 63 {
		return kindName
	}
	return shortHash(kindName)
}

// shortHash returns a hash that fits into a name.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// Objects are the ControllerRevisions that hold a revision of an installation, as they
// are applied.
func (r *Revision) Objects(namespace, identity string) []*unstructured.Unstructured {
	all := storedObjects(r.archive, fmt.Sprintf("jacquard-%s-%s", shortHash(identity+" "+r.Kind), r.Digest), identity, r.Kind)
	for _, o := range all {
		o.SetNamespace(namespace)
		o.Object["revision"] = r.Number
		addLabel(o, api.LabelRevision, r.Digest)
	}
	return all
}

// storedObjects returns ControllerRevisions that hold the parts of an archive which an installation
// keeps of a kind.
func storedObjects(archive []byte, name, identity, kindName string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	chunks := slices.Collect(slices.Chunk(archive, partSize))
	for i, chunk := range chunks {
		o := &unstructured.Unstructured{Object: map[string]any{
			"data": map[string]any{"zip": base64.StdEncoding.EncodeToString(chunk)}, "revision": int64(0),
		}}
		o.SetGroupVersionKind(Resource.GVK)
		o.SetName(name)
		if i > 0 {
			o.SetName(name + "-" + strconv.Itoa(i+1))
		}
		o.SetLabels(map[string]string{api.LabelPartOf: api.PartOf, api.LabelKind: labelValue(kindName),
			api.LabelInstallation: shortHash(identity)})
		o.SetAnnotations(map[string]string{api.AnnotationKind: kindName, api.AnnotationOperator: identity,
			api.AnnotationPart: fmt.Sprintf("%d/%d", i+1, len(chunks))})
		all = append(all, o)
	}
	return all
}

func addLabel(o *unstructured.Unstructured, key, value string) {
	all := o.GetLabels()
	all[key] = value
	o.SetLabels(all)
}

// Read makes revisions of the ControllerRevisions of one kind and installation, the
// one that was served last first. What is wrong with one is told when it is used.
func Read(items []appsv1.ControllerRevision) []*Revision {
	var all []*Revision
	for digest, parts := range byLabel(items, api.LabelRevision) {
		r := &Revision{Kind: parts[0].Annotations[api.AnnotationKind], Digest: digest, Made: parts[0].CreationTimestamp.Time}
		for _, p := range parts {
			r.stored = append(r.stored, p)
			r.Number = max(r.Number, p.Revision)
		}
		r.archive, r.wrong = joinParts(parts)
		all = append(all, r)
	}
	ByNumber(all)
	return all
}

// byLabel returns ControllerRevisions by the value of a label, each group in order of
// their parts.
func byLabel(items []appsv1.ControllerRevision, label string) map[string][]*appsv1.ControllerRevision {
	groups := map[string][]*appsv1.ControllerRevision{}
	for i := range items {
		value := items[i].Labels[label]
		groups[value] = append(groups[value], &items[i])
	}
	for _, parts := range groups {
		slices.SortFunc(parts, func(a, b *appsv1.ControllerRevision) int {
			return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
		})
	}
	return groups
}

// joinParts joins the parts of an archive; the error says why it is not whole.
func joinParts(parts []*appsv1.ControllerRevision) (archive []byte, wrong error) {
	for i, p := range parts {
		var d data
		switch err := json.Unmarshal(p.Data.Raw, &d); {
		case err != nil:
			wrong = fmt.Errorf("reading ControllerRevision %s/%s: %w", p.Namespace, p.Name, err)
		case p.Annotations[api.AnnotationPart] != fmt.Sprintf("%d/%d", i+1, len(parts)):
			wrong = fmt.Errorf("ControllerRevision %s/%s is part %s of it, and %d are there", p.Namespace, p.Name,
				p.Annotations[api.AnnotationPart], len(parts))
		}
		archive = append(archive, d.Zip...)
	}
	return archive, wrong
}

// Stored are the ControllerRevisions that hold the revision.
func (r *Revision) Stored() []metav1.Object { return r.stored }

// Holds reports whether the revision is stored whole, and as another one is that was
// just made of the folder.
func (r *Revision) Holds(o *Revision) bool {
	return r.wrong == nil && bytes.Equal(r.archive, o.archive)
}

// kept is how many revisions are kept that nobody needs any more.
const kept = 10

// Superfluous are the revisions that may be deleted: of those that are not in use all
// but the last ten.
func Superfluous(all []*Revision, used map[string]bool) []*Revision {
	all = slices.DeleteFunc(slices.Clone(all), func(r *Revision) bool { return used[r.Digest] })
	ByNumber(all)
	return all[min(kept, len(all)):]
}
