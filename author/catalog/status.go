package catalog

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/author/apiserver"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkStatus refuses what status.yaml rendered if the engine or the API server
// would: fields that the engine sets or that the CRD does not declare,
// conditions that say too much, values of the wrong type.
func checkStatus(ctx context.Context, r *Resource, world *World, own map[string]any) error {
	if own == nil {
		return nil
	}
	docs, err := r.Kind.Templates.Execute(ctx, "status", render.Dot(r.Object), world)
	if err != nil || len(docs) == 0 {
		return err
	}
	at := func(path string) template.Place { return docs[0].Place(crdfile.SplitPath(path)...) }
	full, err := status.Make(status.Input{Own: own, Generation: r.Object.GetGeneration(), Now: metav1.Unix(0, 0)})
	if err != nil {
		return &template.Error{Place: at(firstPath.FindString(strings.TrimPrefix(err.Error(), "reading status.yaml: "))), Err: err}
	}
	var errs []error
	if _, dropped := r.Kind.Version.PruneStatus(own); len(dropped) > 0 {
		errs = append(errs, &template.Error{Place: at(inStatus(dropped[0])), Err: fmt.Errorf(
			"status.yaml renders what the CRD does not declare: %s", strings.Join(dropped, ", "))})
	}
	kept, _ := r.Kind.Version.PruneStatus(full.Status)
	for _, wrong := range apiserver.ValidateStatus(r.Kind.Version, kept) {
		errs = append(errs, &template.Error{Place: at(inStatus(wrong.Field)), Err: errors.New(crdfile.Describe(wrong))})
	}
	return errors.Join(errs...)
}

var firstPath = regexp.MustCompile(`^[A-Za-z]\w*(?:\[\d+\])?`)

// inStatus is a path below status.
func inStatus(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "status"), ".")
}
