package apply

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// A refusing answers every request as the API server refuses content, or tells
// who reads what there is: the items of a list, as JSON. It notes what could take for
// ever, and what is written.
type refusing struct {
	items     string
	unbounded []string
	writes    []string
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, bounded := req.Context().Deadline(); !bounded {
		r.unbounded = append(r.unbounded, req.Method+" "+req.URL.Path)
	}
	if req.Method != http.MethodGet && req.URL.Query().Get("dryRun") == "" {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.writes = append(r.writes, req.Method+" "+req.URL.Path+" "+string(body))
	} else if req.Method == http.MethodGet && r.items != "" {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":` + r.items + `}`))}, nil
	}
	field := "data[key]"
	if strings.HasSuffix(req.URL.Path, "/status") {
		field = "status.key"
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: `Secret "a" is invalid: data[key]: Invalid value: "hunter2": hunter2 is too short`,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: `Invalid value: "hunter2": hunter2 is too short`}}},
	})
	return &http.Response{StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: req}, err
}

// secret is a document with a value that nobody may see.
func secret() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a", "namespace": "ns", "uid": "1"},
		"data": map[string]any{"key": "hunter2"},
	}}
}

// document is what is applied: only what is there has a uid.
func document() *unstructured.Unstructured {
	doc := secret()
	doc.SetUID("")
	return doc
}

// requests sends each request that a Writer can send.
var requests = map[string]func(context.Context, *Writer, live.Resource) error{
	"Annotate": func(ctx context.Context, w *Writer, _ live.Resource) error {
		return second(CRDs{w}.Annotate(ctx, secret(), map[string]any{}))
	},
	"Create": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Create(ctx, r, document()))
	},
	"Delete": func(ctx context.Context, w *Writer, r live.Resource) error {
		return w.Delete(ctx, r, secret(), metav1.DeletePropagationBackground)
	},
	"SetEntries": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.SetEntries(ctx, r, secret(), nil))
	},
	"Find": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Find(ctx, r, "ns", "a"))
	},
	"List": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.List(ctx, r, Selection{Namespace: "ns", Labels: labels.Everything(), Limit: 1}))
	},
	"CollectionVersion": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.CollectionVersion(ctx, r, "ns"))
	},
	"ReleaseFields": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.ReleaseFields(ctx, r, secret(), Patching{Object: "1"}))
	},
	"Install": func(ctx context.Context, w *Writer, _ live.Resource) error {
		return CRDs{w}.Install(ctx, document(), func(*unstructured.Unstructured) error { return nil })
	},
	"Metadata": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Metadata(ctx, r, secret(), map[string]any{}))
	},
	"Patch": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Patch(ctx, r, document(), Patching{Object: "1"}))
	},
	"Probe": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Probe(ctx, r, document()))
	},
	"Read": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Read(ctx, r, "ns", "a"))
	},
	"DeleteUnchanged": func(ctx context.Context, w *Writer, r live.Resource) error {
		return w.DeleteUnchanged(ctx, r, secret(), metav1.DeletePropagationBackground)
	},
	"Replace": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Replace(ctx, r, secret(), Replacement{Object: document().Object, Document: document().Object}))
	},
	"Some": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Some(ctx, r, "", func(metav1.Object) bool { return true }))
	},
	"Stage": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(Person{w}.Stage(ctx, r, document()))
	},
	"Status": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Status(ctx, r, secret(), map[string]any{"key": "hunter2"}))
	},
	"TryFile": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(Person{w}.TryFile(ctx, r, document(), nil))
	},
	"Update": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.Update(ctx, r, document(), "1"))
	},
	"GetMetadata": func(ctx context.Context, w *Writer, r live.Resource) error {
		return second(w.GetMetadata(ctx, r, "ns", "a"))
	},
}

func second[T any](_ T, err error) error { return err }

// sending are the methods that send values of a resource.
var sending = []string{"Create", "Patch", "Probe", "Replace", "Stage", "Status", "TryFile", "Update"}

// silent are the methods that send nothing.
var silent = []string{"As", "Dry", "ReadOnly", "Tries", "While"}

// TestEveryRequestIsUnderstood: whatever a Writer sends is bounded in time, and
// what is refused comes back as a Refusal without the values that were sent:
// nobody has to remember to mask it.
func TestEveryRequestIsUnderstood(t *testing.T) {
	server := &refusing{}
	w, err := NewWriter(&rest.Config{Host: "http://192.0.2.1"}, &http.Client{Transport: server})
	if err != nil {
		t.Fatal(err)
	}
	r := live.Resource{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"},
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespaced: true}
	for _, of := range []reflect.Type{reflect.TypeFor[*Writer](), reflect.TypeFor[CRDs](), reflect.TypeFor[Person]()} {
		for method := range of.Methods() {
			if request := requests[method.Name]; request == nil && !slices.Contains(silent, method.Name) {
				t.Errorf("%s is not tried here", method.Name)
			}
		}
	}
	for name, request := range requests {
		err := request(t.Context(), w, r)
		var refusal *refusals.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s returns %T, no Refusal: %v", name, err, err)
		} else if conflict := apierrors.IsConflict(err); refusal.Cause != refusals.Invalid && !conflict {
			t.Errorf("%s: cause %d: %v", name, refusal.Cause, err)
		}
		if slices.Contains(sending, name) && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s tells a value: %v", name, err)
		}
	}
	for _, request := range server.unbounded {
		t.Errorf("nothing ends %s", request)
	}
}

// preconditions are how a write says which object it is for: one of that uid, of
// that resourceVersion (of which there is none yet), or that passes a test.
var preconditions = []string{`"uid":"1"`, `"resourceVersion":"`, `"op":"test"`, `"path":"/metadata/resourceVersion"`}

// TestEveryWriteHasAPrecondition: whatever a Writer writes is for the very object
// that was meant, or for none that is there.
func TestEveryWriteHasAPrecondition(t *testing.T) {
	r := live.Resource{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespaced: true}
	for name, request := range requests {
		for _, items := range []string{"[]", `[{"metadata":{"name":"a","namespace":"ns","uid":"1","resourceVersion":"7"}}]`} {
			server := &refusing{items: items}
			w, err := NewWriter(&rest.Config{Host: "http://192.0.2.1"}, &http.Client{Transport: server})
			if err != nil {
				t.Fatal(err)
			}
			_ = request(t.Context(), w, r) // it is refused
			if len(server.writes) == 0 && !slices.Contains(reading, name) {
				t.Errorf("%s writes nothing", name)
			}
			for _, write := range server.writes {
				if !slices.ContainsFunc(preconditions, func(p string) bool { return strings.Contains(write, p) }) {
					t.Errorf("%s writes without a precondition, with %s there: %s", name, items, write)
				}
			}
		}
	}
}

// reading are the methods that write nothing, two by dry runs.
var reading = []string{"CollectionVersion", "Find", "List", "Probe", "Read", "Some", "TryFile", "GetMetadata"}
