// Package lint stub.
package lint

import ("context"
	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/offline"
)

// Check stub.
func Check(_ context.Context, c *offline.Catalog, name string) []flow.Finding { return Findings(c.Broken[name]) }
