package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// previewLimit is how long a preview may take.
var previewLimit = 30 * time.Second

// A Preview is what a rollback, or the end of one, would do to the resources of its kind, as
// far as the caller may find out in time.
type Preview struct {
	// Changes are the changes of resources, equal ones together.
	Changes []Group
	// Changed is how many resources change, of how many.
	Changed, Of int
	// Deletes are all children that would be deleted or recreated.
	Deletes []string
	// Unknown are resources that could not be previewed, those with the same cause together.
	Unknown []Group
	// Stops says why the rollout stops before it begins, although Deletes are approved in a
	// rollback; "" if it does not.
	Stops string
	// Approved is the approval of Deletes. The end of a rollback has no place to record one.
	Approved string
}

// A Group are resources of which the same is to be said. It may be about no resource in
// particular.
type Group struct {
	Text      string
	Resources []string
}

// Preview finds out what a plan would do.
func (h *History) Preview(ctx context.Context, p *Plan) *Preview {
	ctx, cancel := context.WithTimeout(ctx, previewLimit)
	defer cancel()
	out := &Preview{}
	impact, err := h.findImpact(ctx, p)
	if err != nil {
		out.Unknown = []Group{{Text: err.Error()}}
		return out
	}
	out.Of = len(impact.Resources)
	changes, unknown := groups{}, groups{}
	for _, r := range impact.Sorted() {
		name := strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")
		if why := unknownOf(r); why != "" && ctx.Err() != nil {
			unknown.add(fmt.Sprintf("not previewed within %s", previewLimit), name)
		} else if why != "" {
			unknown.add(why, name)
		}
		if text := changesOf(r); text != "" {
			changes.add(text, name)
			out.Changed++
		}
	}
	if ctx.Err() == nil {
		for _, text := range impact.Troubles {
			unknown.add(text, "")
		}
	}
	out.Changes, out.Unknown = changes.sortedGroups(), unknown.sortedGroups()
	isBack := h.now.IsUnfinished() && h.now.Base().Digest == p.Target
	if p.Revision == nil {
		out.Deletes, out.Stops = impact.Release(isBack)
	} else {
		out.Deletes, out.Approved, out.Stops = impact.RollBack(isBack)
	}
	return out
}

func (h *History) findImpact(ctx context.Context, p *Plan) (*diff.Impact, error) {
	folder, err := h.compileTarget(p)
	if err != nil {
		return nil, err
	}
	as, err := h.survey.As(h.kind, folder.GVK)
	if err != nil {
		return nil, err
	}
	return diff.Sight{Survey: h.survey, Kind: as, Folder: folder}.All(ctx, diff.Scope{Abreast: 8})
}

// compileTarget returns what is to serve by a plan, for the cluster.
func (h *History) compileTarget(p *Plan) (*kind.Kind, error) {
	switch {
	case p.undetermined != nil:
		return nil, p.undetermined
	case p.present != nil:
		return placeFolder(h.survey, p.present)
	}
	return h.Compiled(h.survey, p.Target)
}

// unknownOf returns why it is not known all that becomes of a resource; "" if it is.
func unknownOf(r *diff.Resource) string {
	if r.Error != "" {
		return r.Error
	}
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Verb == diff.Unknown {
			return c.Why
		}
	}
	return ""
}

// changesOf returns what would become of the children of a resource, by kind; "" for
// nothing.
func changesOf(r *diff.Resource) string {
	counts := map[string]int{}
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Verb != diff.Kept && c.Verb != diff.Blocked && c.Verb != diff.Unknown {
			counts[c.Kind+" "+string(c.Verb)]++
		}
	}
	var parts []string
	for what, n := range counts {
		if n > 1 {
			what = fmt.Sprintf("%d %s", n, what)
		}
		parts = append(parts, what)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// groups are names of resources by what is to be said of them.
type groups map[string][]string

func (g groups) add(text, name string) {
	names := g[text]
	if name != "" {
		names = append(names, name)
	}
	g[text] = names
}

// sortedGroups returns the groups, the largest first.
func (g groups) sortedGroups() []Group {
	var all []Group
	for text, names := range g {
		all = append(all, Group{text, names})
	}
	slices.SortFunc(all, func(a, b Group) int {
		if n := len(b.Resources) - len(a.Resources); n != 0 {
			return n
		}
		return strings.Compare(a.Text, b.Text)
	})
	return all
}
