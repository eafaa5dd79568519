package lsp

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// The commands, which take the URI of a file of a kind.
const (
	// commandPreview gives what the example of the kind renders, and from then on the
	// notification jacquard/preview tells whenever that changes.
	commandPreview = "jacquard.preview"
	commandClose   = "jacquard.closePreview"
)

// A previewed is what the example of a file's kind renders.
type previewed struct {
	URI  string `json:"uri"`
	Text string `json:"text"`
}

// runCommand opens or closes the preview of a file.
func (s *Server) runCommand(ctx context.Context, p commandParams) (any, error) {
	if len(p.Arguments) != 1 || p.Command != commandPreview && p.Command != commandClose {
		return nil, fmt.Errorf("%s: there is no such command; known are %s and %s, with the URI of a file", p.Command, commandPreview, commandClose)
	}
	uri := p.Arguments[0]
	s.mu.Lock()
	sp, limits, docs := s.spaceOf(pathOf(uri)), s.limits, maps.Clone(s.docs)
	if sp != nil {
		delete(sp.preview, uri)
	}
	s.mu.Unlock()
	switch {
	case limits:
		return nil, fmt.Errorf("the workspace is not trusted: nothing is rendered")
	case sp == nil:
		return nil, fmt.Errorf("%s is in no root: there is no directory with crds/ and templates/ above it", pathOf(uri))
	case p.Command == commandClose:
		return nil, nil
	}
	c, err := sp.loadRoots(docs)
	if err != nil {
		return nil, err
	}
	text := sp.render(ctx, c, uri)
	s.mu.Lock()
	sp.preview[uri] = text
	s.mu.Unlock()
	return previewed{uri, text}, nil
}

// refreshPreviews renders the open previews, and publishes those that have changed.
func (sp *space) refreshPreviews(ctx context.Context) error {
	sp.server.mu.Lock()
	shown, c := maps.Clone(sp.preview), sp.catalog
	sp.server.mu.Unlock()
	for uri, last := range shown {
		text := sp.render(ctx, c, uri)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sp.server.mu.Lock()
		_, still := sp.preview[uri]
		if still {
			sp.preview[uri] = text
		}
		sp.server.mu.Unlock()
		if still && text != last {
			if err := sp.server.rpc.Notify(ctx, "jacquard/preview", previewed{uri, text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// render is what the example of a file's kind renders, or why it does not, as comments.
func (sp *space) render(ctx context.Context, c *catalog.Catalog, uri string) string {
	_, inside, _ := sp.shownPath(pathOf(uri))
	name := kindOf(inside)
	comment := func(err error) string {
		return "# " + strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\n# ") + "\n"
	}
	if c.Kinds[name] == nil && c.Broken[name] != nil {
		return comment(c.Broken[name])
	}
	file, err := c.Example(name)
	switch {
	case err != nil:
		return comment(err)
	case file == nil:
		return comment(fmt.Errorf("there is no example of %s: write examples/%s.yaml", name, name))
	}
	text, err := sp.server.Render(ctx, c, file)
	if err != nil {
		return comment(err)
	}
	return text
}
