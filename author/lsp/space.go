package lsp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A space is some roots and what is known of the kinds in them. Its fields are guarded by
// the server's mutex, but for the cache, which has its own.
type space struct {
	server *Server
	// dirs are the directories of the roots, and shown what errors call them, in order.
	dirs, shown []string

	// catalog is that of the last whole check; nil before the first.
	catalog *catalog.Catalog
	// crds are the last sound definitions, by name of the kind.
	crds map[string]*schema.CRD
	// results are those of the last whole check, by name of the kind.
	results map[string]lint.Result
	// good are those of the last one in which the kind loaded.
	good map[string]good
	// rest are the findings of the last whole check that a file does not show by itself,
	// and based the text that it was about, by file.
	rest  map[string][]typecheck.Finding
	based map[string]string
	// told are the files that the editor was told of findings in.
	told map[string]bool

	// again asks for a whole check.
	again   chan struct{}
	cache   *catalog.Cache
	loading sync.Mutex // of the cache
	one     sync.Mutex // one check of a keystroke at a time
	looked  map[string]string
	texts   textCache
	preview map[string]string // by URI that is previewed, what was sent last
}

// rootParts are the directories of a root.
var rootParts = []string{"templates", "crds", "examples", "schemas"}

// rootOf is the nearest directory above a file that is a root and has the file in one of
// its parts; "" if there is none.
func rootOf(file string) string {
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return ""
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		inFolder := parts[0] == "templates" && len(parts) > 2 && (strings.Contains(parts[1], ".") || parts[1] == folder.LibName)
		begun := parts[0] == "crds" && len(parts) == 2 && strings.Count(parts[1], ".") > 2 && !isChart(dir)
		if inFolder || begun || slices.Contains(rootParts, parts[0]) && isRoot(dir) {
			return dir
		}
	}
	return ""
}

// isChart reports whether a directory is a Helm chart, which has crds/ too.
func isChart(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "Chart.yaml"))
	return err == nil
}

// isEmptyRoot reports whether a directory has nothing of a root.
func isEmptyRoot(dir string) bool {
	_, crds := os.Stat(filepath.Join(dir, "crds"))
	_, templates := os.Stat(filepath.Join(dir, "templates"))
	return crds != nil && templates != nil
}

// isRoot reports whether a directory has templates/NAME.GROUP/. A Helm chart has
// templates/ too, with files in it.
func isRoot(dir string) bool {
	entries, _ := os.ReadDir(filepath.Join(dir, "templates")) // none if it is not there
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.IsDir() && strings.Contains(e.Name(), ".") })
}

func (s *Server) newSpace(dirs []string) *space {
	sp := &space{server: s, dirs: dirs, crds: map[string]*schema.CRD{}, results: map[string]lint.Result{}, good: map[string]good{},
		rest: map[string][]typecheck.Finding{}, based: map[string]string{}, told: map[string]bool{}, again: make(chan struct{}, 1),
		cache: catalog.NewCache(), looked: map[string]string{}, texts: textCache{}, preview: map[string]string{}}
	s.work.Go(func() { sp.runIdleChecks(s.ctx) })
	for _, dir := range dirs {
		if len(dirs) == 1 {
			dir = "."
		}
		sp.shown = append(sp.shown, dir)
	}
	return sp
}

// absPath returns the path of the file that errors give this name.
func (sp *space) absPath(shown string) string {
	if len(sp.dirs) == 1 && !filepath.IsAbs(shown) {
		return filepath.Join(sp.dirs[0], shown)
	}
	return filepath.Clean(shown)
}

// shownPath returns the name that errors give a file, and its path in its root. ok is false for one
// outside.
func (sp *space) shownPath(file string) (shown, inside string, ok bool) {
	for i, dir := range sp.dirs {
		rel, err := filepath.Rel(dir, file)
		if err == nil && filepath.IsLocal(rel) {
			rel = filepath.ToSlash(rel)
			return path.Join(sp.shown[i], rel), rel, true
		}
	}
	return "", "", false
}

// kindOf is the kind that a file in a root belongs to; "" if it is none, or every one.
func kindOf(inside string) string {
	parts := strings.Split(inside, "/")
	switch {
	case parts[0] == "templates" && len(parts) > 2 && parts[1] != folder.LibName:
		return parts[1]
	case (parts[0] == "crds" || parts[0] == "examples") && len(parts) == 2:
		return strings.TrimSuffix(parts[1], ".yaml")
	}
	return ""
}

// openTexts are the texts of documents, by path in the root of a directory.
func openTexts(docs map[string]*document, dir string) map[string]string {
	all := map[string]string{}
	for file, doc := range docs {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			all[filepath.ToSlash(rel)] = doc.text
		}
	}
	return all
}

// loadRoots reads all roots. Texts of open documents replace those on disk.
func (sp *space) loadRoots(docs map[string]*document) (*catalog.Catalog, error) {
	sp.loading.Lock()
	defer sp.loading.Unlock()
	var trees []catalog.Tree
	for i, dir := range sp.dirs {
		trees = append(trees, catalog.Tree{Dir: sp.shown[i], FS: overlay{keptFS{dir}, openTexts(docs, dir)}})
	}
	return catalog.LoadTrees(trees, sp.cache)
}

// keptFS is a directory that nothing leads out of, opened for each file.
type keptFS struct{ dir string }

// Open opens a file or directory.
func (k keptFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenInRoot(k.dir, filepath.FromSlash(name))
}

// requestCheck requests a whole check.
func (sp *space) requestCheck() {
	select {
	case sp.again <- struct{}{}:
	default:
	}
}

// checkSpace checks all kinds of which something changed, as jacquard lint does, and publishes the
// findings. It stops when the context ends.
func (sp *space) checkSpace(ctx context.Context) error {
	sp.server.mu.Lock()
	docs := maps.Clone(sp.server.docs)
	sp.server.mu.Unlock()
	c, err := sp.loadRoots(docs)
	if err != nil {
		return err
	}
	sp.useCatalog(c)
	signature := sp.signaturesOf(c)
	sp.server.mu.Lock()
	maps.DeleteFunc(sp.results, func(name string, _ lint.Result) bool { _, there := signature[name]; return !there })
	if len(c.Trouble) > 0 {
		sp.results[""] = lint.Result{Findings: lint.Findings(errors.Join(c.Trouble...))}
	}
	open := map[string]bool{}
	for file := range docs {
		_, inside, _ := sp.shownPath(file)
		open[kindOf(inside)] = true
	}
	sp.server.mu.Unlock()
	// Those that somebody works on come first; what was checked is kept if the check ends.
	for _, first := range []bool{true, false} {
		for _, name := range sortedKeys(signature) {
			if open[name] != first {
				continue
			}
			if err := sp.checkKind(ctx, c, docs, lookedAt{name, signature[name]}); err != nil {
				return err
			}
		}
		sp.publishFindings(docs)
	}
	return nil
}

// A lookedAt is a kind in one state.
type lookedAt struct{ name, signature string }

// checkKind checks a kind, unless nothing that its check depends on has changed.
func (sp *space) checkKind(ctx context.Context, c *catalog.Catalog, docs map[string]*document, at lookedAt) error {
	name := at.name
	sp.server.mu.Lock()
	_, done := sp.results[name]
	done = done && sp.looked[name] == at.signature
	before := sp.good[name]
	sp.server.mu.Unlock()
	if done {
		return nil
	}
	r := lint.Look(ctx, c, name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := func(shown string) string {
		if doc := docs[sp.absPath(shown)]; doc != nil {
			return doc.text
		}
		return readSaved(sp.absPath(shown))
	}
	followed := c.Understood(name) != nil
	if c.Kinds[name] == nil {
		r.Findings = append(r.Findings, before.keepFindings(r.Findings, followed, text)...)
	}
	if c.Kinds[name] != nil || followed {
		before = goodOf(r.Findings, text)
	}
	sp.server.mu.Lock()
	defer sp.server.mu.Unlock()
	sp.results[name], sp.looked[name], sp.good[name] = r, at.signature, before
	return nil
}

// useCatalog makes a catalog the current one.
func (sp *space) useCatalog(c *catalog.Catalog) {
	sp.server.mu.Lock()
	defer sp.server.mu.Unlock()
	sp.catalog = c
	maps.Copy(sp.crds, c.CRDs)
}

// ensureCatalog loads a catalog if there is none yet.
func (sp *space) ensureCatalog() error {
	sp.server.mu.Lock()
	there, docs := sp.catalog != nil, maps.Clone(sp.server.docs)
	sp.server.mu.Unlock()
	if there {
		return nil
	}
	c, err := sp.loadRoots(docs)
	if err == nil {
		sp.useCatalog(c)
	}
	return err
}

// signaturesOf returns, by name of the kind, a signature of all that its check depends on. That is
// its folder, its samples, its definition, and those of the kinds that the folder mentions.
func (sp *space) signaturesOf(c *catalog.Catalog) map[string]string {
	type definition struct{ name, kind, sum string }
	var definitions []definition
	for _, among := range []map[string]*schema.CRD{c.CRDs, c.Schemas} {
		for _, name := range sortedKeys(among) {
			_, file := c.Source(apischema.GroupKind{Group: among[name].Group, Kind: among[name].Kind})
			definitions = append(definitions, definition{name, among[name].Kind, digestOf(file.Data)})
		}
	}
	all := map[string]string{}
	for name := range c.Kinds {
		all[name] = ""
	}
	for name, err := range c.Broken {
		all[name] = err.Error()
	}
	for name := range all {
		f := c.Folder(name)
		if f != nil {
			all[name] += f.Digest
		}
		for _, d := range definitions {
			if d.name == name || f != nil && mentionsKind(f, d.kind) {
				all[name] += d.sum
			}
		}
		all[name] += c.Samples(name)
	}
	return all
}

// mentionsKind reports whether a folder may make or read objects of a kind: to do so, it
// must name it.
func mentionsKind(f *folder.Folder, kind string) bool {
	all := templatesOf(f)
	if f.Settings != nil {
		all = append(all, *f.Settings)
	}
	return slices.ContainsFunc(all, func(file folder.File) bool { return bytes.Contains(file.Data, []byte(kind)) })
}

// digestOf returns the SHA-256 digest of data.
func digestOf(data []byte) string {
	digest := sha256.Sum256(data)
	return string(digest[:])
}
