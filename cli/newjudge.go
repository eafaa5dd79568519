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

// judge notes what lint says of a new kind in its root, such as why pack refuses
// it: what it was made of brought that along. Of a rough draft lint says more
// than anybody reads here.
func judge(ctx context.Context, root string, draft *scaffold.Draft) error {
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
