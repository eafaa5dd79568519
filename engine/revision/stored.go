package revision

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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
	terms := []string{api.LabelRevision}
	if kindName != "" {
		terms = append(terms, api.LabelKind+"="+labelled(kindName))
	}
	if identity != "" {
		terms = append(terms, api.LabelInstallation+"="+short(identity))
	}
	return strings.Join(terms, ",")
}

// labelled is the name of a kind as the value of a label, which may be 63 bytes long.
func labelled(kindName string) string {
	if len(kindName) <= 63 {
		return kindName
	}
	return short(kindName)
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// Objects are the ControllerRevisions that hold a revision of an installation, as they
// are applied.
func (r *Revision) Objects(namespace, identity string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	chunks := slices.Collect(slices.Chunk(r.archive, partSize))
	for i, chunk := range chunks {
		name := fmt.Sprintf("jacquard-%s-%s", short(identity+" "+r.Kind), r.Digest)
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		o := &unstructured.Unstructured{Object: map[string]any{
			"data": map[string]any{"zip": base64.StdEncoding.EncodeToString(chunk)}, "revision": r.Number,
		}}
		o.SetGroupVersionKind(Resource.GVK)
		o.SetNamespace(namespace)
		o.SetName(name)
		o.SetLabels(map[string]string{api.LabelPartOf: api.PartOf, api.LabelRevision: r.Digest, api.LabelKind: labelled(r.Kind),
			api.LabelInstallation: short(identity)})
		o.SetAnnotations(map[string]string{api.AnnotationKind: r.Kind, api.AnnotationOperator: identity,
			api.AnnotationPart: fmt.Sprintf("%d/%d", i+1, len(chunks))})
		all = append(all, o)
	}
	return all
}

// Read makes revisions of the ControllerRevisions of one kind and installation, the
// one that was served last first. What is wrong with one is told when it is used.
func Read(items []appsv1.ControllerRevision) []*Revision {
	parts := map[string][]*appsv1.ControllerRevision{}
	for i := range items {
		digest := items[i].Labels[api.LabelRevision]
		parts[digest] = append(parts[digest], &items[i])
	}
	var all []*Revision
	for _, digest := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, join(digest, parts[digest]))
	}
	ByNumber(all)
	return all
}

func join(digest string, parts []*appsv1.ControllerRevision) *Revision {
	slices.SortFunc(parts, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), strings.Compare(a.Name, b.Name))
	})
	first := parts[0]
	r := &Revision{Kind: first.Annotations[api.AnnotationKind], Digest: digest, Number: first.Revision, Made: first.CreationTimestamp.Time}
	for i, p := range parts {
		r.stored = append(r.stored, p)
		r.Number = max(r.Number, p.Revision)
		var d data
		switch err := json.Unmarshal(p.Data.Raw, &d); {
		case err != nil:
			r.wrong = fmt.Errorf("reading ControllerRevision %s/%s: %w", p.Namespace, p.Name, err)
		case p.Annotations[api.AnnotationPart] != fmt.Sprintf("%d/%d", i+1, len(parts)):
			r.wrong = fmt.Errorf("ControllerRevision %s/%s is part %s of it, and %d are there", p.Namespace, p.Name,
				p.Annotations[api.AnnotationPart], len(parts))
		}
		r.archive = append(r.archive, d.Zip...)
	}
	return r
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
