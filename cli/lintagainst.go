//go:build !operator

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// inCluster is what --against calls the cluster.
const inCluster = "cluster"

// A baseline is what kinds are compared with; what is nil is not.
type baseline struct {
	earlier *catalog.Catalog
	cluster *liveview.Survey
}

// openBaseline opens what --against names.
func (o *lintOptions) openBaseline(ctx context.Context) (b baseline, err error) {
	roots := slices.DeleteFunc(slices.Clone(o.against), func(dir string) bool { return dir == inCluster })
	if len(roots) > 0 {
		if b.earlier, err = loadCatalog(roots, ""); err != nil {
			return b, fmt.Errorf("--against: %w", err)
		}
	}
	if len(roots) == len(o.against) {
		return b, nil
	}
	cfg, err := o.clientConfig()
	if err != nil {
		return b, err
	}
	b.cluster, err = liveview.Open(ctx, cfg, nil)
	return b, err
}

// compareKind returns what has become wrong with a kind since then, and how many resources of the
// cluster its CRD was tried with.
func (b baseline) compareKind(ctx context.Context, c *catalog.Catalog, name string) (found []typecheck.Finding, tried int, err error) {
	crd := c.CRDs[name]
	if b.earlier != nil {
		if found, err = lint.Dropped(b.earlier, c, name); err != nil {
			return nil, 0, err
		}
		if before := lint.Earlier(b.earlier, c, name); before != nil && crd != nil {
			found = append(found, lint.Breaking(before.Object, crd)...)
		}
	}
	if b.cluster == nil || crd == nil {
		return found, 0, nil
	}
	there, err := b.cluster.CRD(ctx, name)
	if err != nil || there == nil {
		return found, 0, err
	}
	found = append(found, lint.Breaking(there, crd)...)
	present, err := schema.FromObject(there)
	if err != nil {
		return nil, 0, fmt.Errorf("reading CRD %s: %w", name, err)
	}
	fit, err := b.cluster.Fits(ctx, present, crd)
	if fit.Refused > 0 {
		line, column := crdfile.LocateIn(crd, "spec.versions")
		text := fmt.Sprintf("%d of %s in the cluster would be refused: %s", fit.Refused, formatPlural(fit.Resources, "resource"),
			strings.Join(fit.First, "; "))
		if more := fit.Refused - len(fit.First); more > 0 {
			text += fmt.Sprintf("; and %d more", more)
		}
		found = append(found, typecheck.Finding{
			Class: lint.BreakingCRD, Place: template.Place{File: crd.File, Line: line, Column: column}, Text: text,
		})
	}
	return found, fit.Resources, err
}
