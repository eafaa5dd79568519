//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/scaffold"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// noteFindings notes what lint finds in a new kind in its root, such as why pack refuses it. The
// source of the kind brought that along. For a rough draft there are more findings than anybody
// reads here.
func noteFindings(ctx context.Context, root string, draft *scaffold.Draft) error {
	if draft.Rough {
		return nil
	}
	kinds, err := catalog.Load([]string{root})
	if err != nil {
		return fmt.Errorf("looking at what was written: %w", err)
	}
	for _, finding := range lint.Check(ctx, kinds, draft.Name) {
		draft.Note((&template.Error{Place: finding.Place, Err: errors.New(finding.Text)}).Error())
	}
	return nil
}
