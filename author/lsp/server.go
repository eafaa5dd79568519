package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/panics"
)

// Options are what the command line says.
type Options struct {
	// Roots are directories with crds/ and templates/ whose kinds know each other. Without
	// any, the root of a file is the directory above it that has these.
	Roots []string
	// Render gives the text that jacquard render prints for the objects of a file.
	Render func(ctx context.Context, c *catalog.Catalog, file *catalog.File) (string, error)
	// Log is where to write what goes wrong in the server itself.
	Log io.Writer
}

// quietFor is how long nothing may be typed before a kind is checked as a whole.
const quietFor = 300 * time.Millisecond

// atOnce is how many requests are answered at the same time: few take longer than a
// moment, and a notification, such as one that cancels a request, must find a place.
const atOnce = 64

// A document is a text that the editor has, in one version. It is not changed.
type document struct {
	path, uri string
	version   int
	text      string
	// stop ends what is done for this version.
	stop context.CancelFunc
	ctx  context.Context
}

// A Server answers one editor. Its fields are guarded by its mutex, but for the options.
type Server struct {
	Options
	rpc *jrpc2.Server

	mu     sync.Mutex
	docs   map[string]*document // by path
	spaces []*space
	limits bool // diagnostics only
	// creates: the editor carries out edits that make files.
	creates bool
	watch   bool
	// pending are the running requests by method and document.
	pending map[string]*pending
	// counts are how often the check of a keystroke read a file, for tests.
	counts map[string]int
	extra  handler.Map // further methods, for tests
	down   bool
	exited chan struct{}
	work   sync.WaitGroup
	ctx    context.Context
}

type pending struct{ stop context.CancelCauseFunc }

// New makes a server.
func New(o Options) *Server {
	return &Server{Options: o, docs: map[string]*document{}, pending: map[string]*pending{}, counts: map[string]int{},
		exited: make(chan struct{})}
}

var errExit = errors.New("the editor ended without shutdown")

// Serve answers an editor until it says exit or its stream ends. The error says that it
// ended otherwise than the protocol wants.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	s.rpc = jrpc2.NewServer(s.methodHandlers(), &jrpc2.ServerOptions{AllowPush: true, DisableBuiltin: true, Concurrency: atOnce,
		NewContext: func() context.Context { return ctx }})
	s.rpc.Start(channel.LSP(in, out))
	// Nothing ends a read of stdin, which the editor may keep open.
	ended := make(chan error, 1)
	go func() { ended <- s.rpc.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-s.exited:
	}
	cancel()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && !s.down {
		err = errExit
	}
	return err
}

// methodHandlers returns the handlers of the protocol's methods by name.
func (s *Server) methodHandlers() handler.Map {
	all := handler.Map{
		"initialize":  handleRequest(s, s.initializeServer),
		"initialized": handleNotification(s, s.startChecks),
		"shutdown":    handleNotification(s, s.endSession),
		"exit":        handleNotification(s, func(context.Context, struct{}) error { close(s.exited); return nil }),
		"$/cancelRequest": handleNotification(s, func(_ context.Context, p cancelParams) error {
			s.rpc.CancelRequest(string(p.ID))
			return nil
		}),
		"textDocument/didOpen":    handleNotification(s, s.openDocument),
		"textDocument/didChange":  handleNotification(s, s.changeDocument),
		"textDocument/didSave":    handleNotification(s, s.saveDocument),
		"textDocument/didClose":   handleNotification(s, s.closeDocument),
		"textDocument/completion": handleQuery(s, s.completeAt),
		"textDocument/hover":      handleQuery(s, s.hoverAt),
		"textDocument/definition": handleQuery(s, s.findDefinition),
		"textDocument/references": handleQuery(s, s.findReferences),
		"textDocument/rename":     handleQuery(s, s.renamePartial),
		"textDocument/codeAction": handleQuery(s, s.codeActions),

		"textDocument/prepareRename":      handleQuery(s, s.prepareRename),
		"workspace/executeCommand":        handleRequest(s, s.runCommand),
		"workspace/didChangeWatchedFiles": handleNotification(s, s.filesChanged),
	}
	maps.Copy(all, s.extra)
	return all
}

// handleRequest returns a handler that calls a function. A panic becomes an error of this request
// alone.
func handleRequest[P, R any](s *Server, f func(context.Context, P) (R, error)) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (out any, err error) {
		defer func() { s.logError(panicOf(err)) }()
		defer panics.Catch(&err, "answering "+req.Method())
		var p P
		if req.HasParams() && req.ParamString() != "null" {
			if err := req.UnmarshalParams(&p); err != nil {
				return nil, err
			}
		}
		return f(ctx, p)
	}
}

// handleNotification returns a handler like that of handleRequest, for a function without a result.
func handleNotification[P any](s *Server, f func(context.Context, P) error) jrpc2.Handler {
	return handleRequest(s, func(ctx context.Context, p P) (any, error) { return nil, f(ctx, p) })
}

func panicOf(err error) error {
	if p := panics.In(err); p != nil {
		return fmt.Errorf("%w\n%s", p, p.Stack)
	}
	return nil
}

// Codes of the protocol for requests that were not carried out.
const (
	codeCancelled jrpc2.Code = -32800
	codeModified  jrpc2.Code = -32801
)

// errModified is the cause of a request's end when its document changed, or the editor
// asked the same again.
var errModified = &jrpc2.Error{Code: codeModified, Message: "the text has changed, or a later request asks the same"}

// handleQuery returns a handler that calls a function with a place in a document. A later request
// of the same method for the document, or a change of the document, cancels it.
func handleQuery[R any](s *Server, f func(context.Context, *query) (R, error)) jrpc2.Handler {
	return handleRequest(s, func(ctx context.Context, p documentParams) (out any, err error) {
		key := jrpc2.InboundRequest(ctx).Method() + " " + pathOf(p.TextDocument.URI)
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		one := &pending{stop}
		s.mu.Lock()
		if before := s.pending[key]; before != nil {
			before.stop(errModified)
		}
		s.pending[key] = one
		doc, sp := s.docs[pathOf(p.TextDocument.URI)], s.spaceOf(pathOf(p.TextDocument.URI))
		if doc == nil || s.limits {
			sp = nil
		} else {
			defer context.AfterFunc(doc.ctx, func() { stop(errModified) })()
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			if s.pending[key] == one {
				delete(s.pending, key)
			}
			s.mu.Unlock()
		}()
		if sp == nil {
			return nil, nil
		}
		out, err = f(ctx, sp.newQuery(ctx, doc, p))
		if ctx.Err() != nil {
			if errors.Is(context.Cause(ctx), errModified) {
				return nil, errModified
			}
			return nil, &jrpc2.Error{Code: codeCancelled, Message: "cancelled"}
		}
		return out, err
	})
}

// initializeServer reads what the editor supports, and returns what the server does.
func (s *Server) initializeServer(_ context.Context, p initializeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = p.InitializationOptions.DiagnosticsOnly
	s.watch = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	s.creates = slices.Contains(p.Capabilities.Workspace.WorkspaceEdit.ResourceOperations, "create")
	if len(s.Roots) > 0 {
		var dirs []string
		for _, dir := range s.Roots {
			full, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, full)
		}
		s.spaces = append(s.spaces, s.newSpace(dirs))
	}
	for _, uri := range append(foldersOf(p), p.RootURI) {
		if dir := pathOf(uri); dir != "" && isRoot(dir) {
			s.spaceIn(dir)
		}
	}
	can := map[string]any{"textDocumentSync": map[string]any{"openClose": true, "change": 2, "save": true}}
	if !s.limits {
		maps.Copy(can, map[string]any{
			"completionProvider": map[string]any{"triggerCharacters": []string{".", "\"", "$", " "}},
			"hoverProvider":      true, "definitionProvider": true, "referencesProvider": true,
			"renameProvider":         map[string]any{"prepareProvider": true},
			"codeActionProvider":     map[string]any{"codeActionKinds": []string{"quickfix"}},
			"executeCommandProvider": map[string]any{"commands": []string{commandPreview, commandClose}},
		})
	}
	return map[string]any{"capabilities": can, "serverInfo": map[string]any{"name": "jacquard"}}, nil
}

func foldersOf(p initializeParams) []string {
	var all []string
	for _, f := range p.WorkspaceFolders {
		all = append(all, f.URI)
	}
	return all
}

// startChecks requests the first checks, and registers for files that change on disk.
func (s *Server) startChecks(context.Context, struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.spaces {
		sp.requestCheck()
		for _, dir := range sp.dirs {
			if isEmptyRoot(dir) {
				_ = s.rpc.Notify(s.ctx, "window/showMessage", map[string]any{"type": severityWarning,
					"message": "jacquard: " + dir + " has neither crds/ nor templates/: nothing is checked in it"})
			}
		}
	}
	if !s.watch {
		return nil
	}
	s.work.Go(func() {
		watchers := []map[string]any{{"globPattern": "**/*.{yaml,tpl,txt}"}, {"globPattern": "**/files/*"}}
		_, err := s.rpc.Callback(s.ctx, "client/registerCapability", map[string]any{"registrations": []map[string]any{{
			"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": map[string]any{"watchers": watchers}}}})
		s.logError(err)
	})
	return nil
}

// endSession records that the editor ends the session.
func (s *Server) endSession(context.Context, struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	return nil
}

// spaceOf is the space that a file is in; nil if it is in none. The mutex is held.
func (s *Server) spaceOf(file string) *space {
	for _, sp := range s.spaces {
		_, inside, ok := sp.shownPath(file)
		if part, _, _ := strings.Cut(inside, "/"); ok && slices.Contains(rootParts, part) {
			return sp
		}
	}
	if len(s.Roots) > 0 {
		return nil
	}
	if dir := rootOf(file); dir != "" && file != "" {
		return s.spaceIn(dir)
	}
	return nil
}

// spaceIn is the space of a directory. The mutex is held.
func (s *Server) spaceIn(dir string) *space {
	i := slices.IndexFunc(s.spaces, func(sp *space) bool { return slices.Contains(sp.dirs, dir) })
	if i < 0 {
		i = len(s.spaces)
		s.spaces = append(s.spaces, s.newSpace([]string{dir}))
	}
	return s.spaces[i]
}

// openDocument adds a document that the editor opened.
func (s *Server) openDocument(_ context.Context, p changeParams) error {
	return s.set(p.TextDocument, p.TextDocument.Text)
}

// changeDocument applies the changes of a document.
func (s *Server) changeDocument(_ context.Context, p changeParams) error {
	s.mu.Lock()
	doc := s.docs[pathOf(p.TextDocument.URI)]
	s.mu.Unlock()
	if doc == nil {
		return nil
	}
	text := doc.text
	for _, c := range p.ContentChanges {
		text = applyChange(text, c.Range, c.Text)
	}
	return s.set(p.TextDocument, text)
}

// set takes in a version of a document, and checks it.
func (s *Server) set(td textDocument, text string) error {
	file := pathOf(td.URI)
	if file == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := &document{path: file, uri: td.URI, version: td.Version, text: text}
	doc.ctx, doc.stop = context.WithCancel(s.ctx)
	if before := s.docs[file]; before != nil {
		before.stop()
	}
	s.docs[file] = doc
	sp := s.spaceOf(file)
	if sp == nil {
		return nil
	}
	sp.requestCheck()
	s.work.Go(func() {
		var err error
		defer func() { s.logError(err) }()
		defer panics.Catch(&err, "checking "+file)
		sp.one.Lock()
		defer sp.one.Unlock()
		if doc.ctx.Err() == nil {
			if err = sp.publishTyped(doc.ctx, doc); doc.ctx.Err() != nil {
				err = nil
			}
		}
	})
	return nil
}

// saveDocument requests a whole check.
func (s *Server) saveDocument(_ context.Context, p changeParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp := s.spaceOf(pathOf(p.TextDocument.URI)); sp != nil {
		sp.requestCheck()
	}
	return nil
}

// closeDocument forgets a document that the editor closed, and requests a whole check.
func (s *Server) closeDocument(_ context.Context, p changeParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := pathOf(p.TextDocument.URI)
	if doc := s.docs[file]; doc != nil {
		doc.stop()
		delete(s.docs, file)
	}
	if sp := s.spaceOf(file); sp != nil {
		sp.requestCheck()
	}
	return nil
}

func (s *Server) filesChanged(context.Context, struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.spaces {
		sp.requestCheck()
	}
	return nil
}

// textOf is the text of a file as the editor has it, or as it is saved; "" if it cannot be
// read.
func (s *Server) textOf(file string) string {
	s.mu.Lock()
	doc := s.docs[file]
	s.mu.Unlock()
	if doc != nil {
		return doc.text
	}
	return readSaved(file)
}

// readSaved returns the text of a file on disk, or "" if it cannot be read.
func readSaved(file string) string {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, _ := os.ReadFile(file)
	return string(data)
}

// publishDiagnostics publishes findings, unless the document has another version by now.
func (s *Server) publishDiagnostics(doc *document, found []diagnostic) {
	s.mu.Lock()
	current := s.docs[doc.path]
	s.mu.Unlock()
	p := publishParams{URI: doc.uri, Diagnostics: found}
	if doc.version >= 0 {
		if current != doc {
			return
		}
		p.Version = &doc.version
	}
	_ = s.rpc.Notify(s.ctx, "textDocument/publishDiagnostics", p) // it fails when the editor is gone
}

// countTemplates counts the templates that the check of a keystroke analyses.
func (s *Server) countTemplates(f *folder.Folder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range templatesOf(f) {
		s.counts[file.Shown]++
	}
}

// logError logs what went wrong in the server.
func (s *Server) logError(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(s.Log, "jacquard lsp: %v\n", err)
	}
}
