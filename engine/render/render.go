package render

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// maxChildren is how many children one resource may have.
const maxChildren = 1000

// A Child is one object that a resource should have, as its file says, without
// metadata of the engine. Its namespace is filled in.
type Child struct {
	// File is the template file without .yaml.
	File   string
	Object *unstructured.Unstructured
	Policy Policy
	// Marks are the annotations that were taken off and became the Policy.
	Marks map[string]string
	Doc   *template.Document
	// Drawn says that the child is a Secret with texts that are drawn once.
	Drawn bool
}

// A Waiting is a file that is not to be rendered yet; what it made stays.
type Waiting struct{ File, Message string }

// A Result is everything that the files of a folder rendered for a resource.
type Result struct {
	// Children stand in the order of files and documents.
	Children []Child
	Waiting  []Waiting
	// Rendered are the files that were rendered completely, Failed those that
	// could not be.
	Rendered, Failed []string
}

// Children renders the files of a kind for a resource. Any error means that
// nothing of the resource may be applied or pruned; it joins what is wrong with
// each file, and the Result tells which files these are, if it is due to single
// ones. Errors hold no values of the resource.
func Children(ctx context.Context, k *kind.Kind, resource *unstructured.Unstructured, world template.World) (*Result, error) {
	return ExecuteChildren(ctx, k, resource, k.Templates.For(Dot(resource), world))
}

// ExecuteChildren does what Children does, by a Rendering of its own.
func ExecuteChildren(ctx context.Context, k *kind.Kind, resource *unstructured.Unstructured, files *template.Rendering) (*Result, error) {
	r := &Result{}
	var errs []error
	for _, file := range k.Files {
		docs, err := files.Execute(ctx, file)
		var wait *template.Wait
		if errors.As(err, &wait) {
			r.Waiting = append(r.Waiting, Waiting{file, wait.Message})
			continue
		}
		if err != nil {
			r.Failed = append(r.Failed, file)
			if !slices.Contains(errs, err) { // of a file that another renders
				errs = append(errs, err)
			}
			continue
		}
		made, err := OfFile(k, resource, file, docs)
		if err != nil {
			r.Failed, errs = append(r.Failed, file), append(errs, err)
			continue
		}
		r.Rendered, r.Children = append(r.Rendered, file), append(r.Children, made...)
	}
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	return r, errors.Join(r.checkNamespaces(k, resource), r.checkNumber(), r.checkTwice())
}

// OfFile makes the children, and the patches, that the documents of a file are. It
// changes the documents.
func OfFile(k *kind.Kind, resource *unstructured.Unstructured, file string, docs []*template.Document) ([]Child, error) {
	var made []Child
	var errs []error
	for _, d := range docs {
		c, err := newChild(k, resource, file, d)
		errs = append(errs, err)
		made = append(made, c)
	}
	return made, errors.Join(errs...)
}

// Status renders status.yaml; nil without one.
func Status(ctx context.Context, k *kind.Kind, resource *unstructured.Unstructured, world template.World) (map[string]any, error) {
	return ExecuteStatus(ctx, k, k.Templates.For(Dot(resource), world))
}

// ExecuteStatus does what Status does, by a Rendering of its own.
func ExecuteStatus(ctx context.Context, k *kind.Kind, files *template.Rendering) (map[string]any, error) {
	if !k.HasStatus {
		return nil, nil
	}
	docs, err := files.Execute(ctx, "status")
	if err != nil {
		return nil, err
	}
	switch len(docs) {
	case 0:
		return map[string]any{}, nil
	case 1:
		return docs[0].Object, nil
	}
	return nil, &template.Error{Place: docs[1].Place(), Err: errors.New("status.yaml must be one document")}
}
