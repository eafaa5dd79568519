package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
)

// An editor drives a server by the protocol alone.
type editor struct {
	t      testing.TB
	root   string
	server *Server
	client *jrpc2.Client
	log    *bytes.Buffer
	slow   jrpc2.Handler // what the method test/slow does

	mu       sync.Mutex
	changed  chan struct{}
	told     map[string]publishParams // by path in the root
	history  map[string][]publishParams
	previews []previewed
	messages []string
	versions map[string]int
	texts    map[string]string
}

// ended waits at most this long for what the server does: a test that waits longer fails.
const ended = time.Minute

// startEditor starts a server in a root.
func startEditor(t testing.TB, root string, options ...map[string]any) *editor {
	t.Helper()
	e := &editor{t: t, root: root, log: &bytes.Buffer{}, changed: make(chan struct{}), told: map[string]publishParams{},
		history:  map[string][]publishParams{},
		versions: map[string]int{}, texts: map[string]string{}}
	e.server = New(Options{Render: rendered, Log: &synced{w: e.log}})
	e.server.extra = handler.Map{"test/slow": func(ctx context.Context, req *jrpc2.Request) (any, error) { return e.slow(ctx, req) }}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- e.server.Serve(context.Background(), inRead, outWrite)
		_ = outWrite.Close()
	}()
	e.client = jrpc2.NewClient(channel.LSP(outRead, inWrite), &jrpc2.ClientOptions{
		OnNotify:   e.notified,
		OnCallback: func(context.Context, *jrpc2.Request) (any, error) { return nil, nil },
	})
	params := map[string]any{"rootUri": uriOf(root), "capabilities": map[string]any{
		"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true},
			"workspaceEdit": map[string]any{"documentChanges": true, "resourceOperations": []string{"create"}}}}}
	for _, o := range options {
		params["initializationOptions"] = o
	}
	e.call("initialize", params, nil)
	e.notify("initialized", map[string]any{})
	t.Cleanup(func() {
		e.call("shutdown", nil, nil)
		e.notify("exit", nil)
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("the server ended with %v", err)
			}
		case <-time.After(ended):
			t.Error("the server does not end")
		}
		_ = e.client.Close()
		if text := e.log.String(); text != "" && !t.Failed() {
			t.Errorf("the server logged %s", text)
		}
	})
	return e
}

type synced struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func (e *editor) notified(req *jrpc2.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch req.Method() {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if err := req.UnmarshalParams(&p); err != nil {
			e.t.Error(err)
		}
		rel, _ := filepath.Rel(e.root, pathOf(p.URI))
		e.told[filepath.ToSlash(rel)] = p
		e.history[filepath.ToSlash(rel)] = append(e.history[filepath.ToSlash(rel)], p)
	case "window/showMessage":
		var p struct{ Message string }
		_ = req.UnmarshalParams(&p)
		e.messages = append(e.messages, p.Message)
	case "jacquard/preview":
		var p previewed
		_ = req.UnmarshalParams(&p)
		e.previews = append(e.previews, p)
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// until waits until something that the server told is so.
func (e *editor) until(what string, so func() bool) {
	e.t.Helper()
	limit := time.After(ended)
	for {
		e.mu.Lock()
		done, changed := so(), e.changed
		e.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			e.mu.Lock()
			defer e.mu.Unlock()
			e.t.Fatalf("the server never told that %s; last: %v; log: %s", what, e.told, e.log)
		}
	}
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.try(method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) try(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), ended)
	defer cancel()
	rsp, err := e.client.Call(ctx, method, params)
	if err != nil || result == nil {
		return err
	}
	return rsp.UnmarshalResult(result)
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.client.Notify(context.Background(), method, params); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) uri(file string) string { return uriOf(filepath.Join(e.root, file)) }

// open opens a file, or one that there is not yet with this text.
func (e *editor) open(file string, text ...string) {
	e.t.Helper()
	e.texts[file] = strings.Join(text, "")
	if text == nil {
		data, err := os.ReadFile(filepath.Join(e.root, file))
		if err != nil {
			e.t.Fatal(err)
		}
		e.texts[file] = string(data)
	}
	e.versions[file] = 1
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": e.uri(file), "languageId": "yaml", "version": 1, "text": e.texts[file]}})
}

// set makes a text that of an open file.
func (e *editor) set(file, text string) {
	e.t.Helper()
	e.versions[file]++
	e.texts[file] = text
	e.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": e.uri(file), "version": e.versions[file]},
		"contentChanges": []map[string]any{{"text": text}}})
}

// replace puts a text in the place of another one that occurs once.
func (e *editor) replace(file, old, with string) {
	e.t.Helper()
	text := e.texts[file]
	if strings.Count(text, old) != 1 {
		e.t.Fatalf("%q occurs %d times in %s", old, strings.Count(text, old), file)
	}
	i := strings.Index(text, old)
	e.versions[file]++
	e.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": e.uri(file), "version": e.versions[file]},
		"contentChanges": []map[string]any{{"range": spanOf(text, i, i+len(old)), "text": with}}})
	e.texts[file] = text[:i] + with + text[i+len(old):]
}

// at are the parameters of a request about the place that a mark, ‸, has in a part of the
// text, which occurs once.
func (e *editor) at(file, part string) map[string]any {
	e.t.Helper()
	plain := strings.Replace(part, "‸", "", 1)
	if strings.Count(e.texts[file], plain) != 1 {
		e.t.Fatalf("%q occurs %d times in %s:\n%s", plain, strings.Count(e.texts[file], plain), file, e.texts[file])
	}
	i := strings.Index(e.texts[file], plain) + strings.Index(part, "‸")
	return map[string]any{"textDocument": map[string]any{"uri": e.uri(file)}, "position": positionOf(e.texts[file], i),
		"context": map[string]any{"includeDeclaration": true}}
}

// found are the findings of a file as they were told for its last version: line:column
// class text.
func (e *editor) found(file string) []string {
	all := []string{}
	for _, d := range e.told[file].Diagnostics {
		all = append(all, fmt.Sprintf("%d:%d %s %s", d.Range.Start.Line+1, d.Range.Start.Character+1, d.Code, d.Message))
	}
	return all
}

// current reports whether the findings of the last version of a file were told.
func (e *editor) current(file string) bool {
	p, told := e.told[file]
	return told && p.Version != nil && *p.Version == e.versions[file]
}

// publications are the publications of the current version of a file, in order.
func (e *editor) publications(file string) []publishParams {
	var all []publishParams
	for _, p := range e.history[file] {
		if p.Version != nil && *p.Version == e.versions[file] {
			all = append(all, p)
		}
	}
	return all
}

// whole waits until the kind was checked as a whole with the current version of a
// template, which is told first by itself.
func (e *editor) whole(template string) {
	e.t.Helper()
	e.until("the kind of "+template+" is checked", func() bool { return len(e.publications(template)) > 1 })
}

// finds waits for findings of the last version of a file, by how they begin.
func (e *editor) finds(file string, want ...string) {
	e.t.Helper()
	e.until(fmt.Sprintf("%s has the findings %q", file, want), func() bool {
		found := e.found(file)
		if !e.current(file) || len(found) != len(want) {
			return false
		}
		return !slices.ContainsFunc(want, func(w string) bool {
			return !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, w) })
		})
	})
}

// completes are the labels that are offered at a place.
func (e *editor) completes(file, part string) []string {
	e.t.Helper()
	var items []completionItem
	e.call("textDocument/completion", e.at(file, part), &items)
	var all []string
	for _, i := range items {
		all = append(all, i.Label)
	}
	return all
}

// applied is the text of a file after an edit.
func (e *editor) applied(file string, changes map[string][]textEdit) string {
	e.t.Helper()
	text, open := e.texts[file]
	if !open {
		data, err := os.ReadFile(filepath.Join(e.root, file))
		if err != nil {
			e.t.Fatal(err)
		}
		text = string(data)
	}
	edits := changes[e.uri(file)]
	for _, one := range slices.Backward(edits) {
		text = applyChange(text, &one.Range, one.NewText)
	}
	return text
}

// copied is a copy of the kinds of this repository, or of some of them.
func copied(t testing.TB, names ...string) string {
	t.Helper()
	root := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	for _, name := range names {
		for _, part := range []string{"crds/" + name + ".yaml", "examples/" + name + ".yaml"} {
			data, err := os.ReadFile("../../" + part)
			if err != nil {
				t.Fatal(err)
			}
			write(t, root, part, string(data))
		}
		if err := os.CopyFS(filepath.Join(root, "templates", name), os.DirFS("../../templates/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func write(t testing.TB, root, file, text string) {
	t.Helper()
	full := filepath.Join(root, file)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shown is JSON for messages.
func shown(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
