package template

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/panics"
)

// A Rendering is one render of a folder's files for one resource: what a file
// renders is known to the others, and worked out once. It is for one goroutine
// at a time.
type Rendering struct {
	set   *Set
	dot   map[string]any
	world World
	known map[string]*outcome // of the files that others render or await
	// trace begins to follow the execution of a file; nil if nobody does.
	trace func(file string) Tracer
}

// An outcome is what became of a file.
type outcome struct {
	docs []*Document
	err  error
	// text is what the file rendered as text, unless that is too long.
	text    string
	textErr error
	sealed  bool
}

// For begins a render with dot as both `.` and `$`.
func (s *Set) For(dot map[string]any, world World) *Rendering {
	return &Rendering{set: s, dot: dot, world: world}
}

// Execute is For(dot, world).Execute: for one file alone.
func (s *Set) Execute(ctx context.Context, name string, dot map[string]any, world World) ([]*Document, error) {
	return s.For(dot, world).Execute(ctx, name)
}

// Execute runs a file and returns its documents, values put in. It is a
// function of the Rendering's arguments: the same ones give the same
// documents. ctx carries the deadline. The documents are the caller's, who may
// change them.
//
// Errors are an *Error around what is wrong: a *Wait, a *Failure, ErrBudget,
// or a mistake.
func (r *Rendering) Execute(ctx context.Context, name string) ([]*Document, error) {
	if _, shared := r.set.shared[name]; !shared {
		return r.executeFile(ctx, name)
	}
	out := r.outcomeOf(ctx, name)
	return copyDocuments(out.docs), out.err
}

// executeFile runs a file, and follows the execution if somebody does.
func (r *Rendering) executeFile(ctx context.Context, name string) ([]*Document, error) {
	file := r.set.files[name]
	if file == nil {
		return nil, fmt.Errorf("executing template: there is no file %q", name)
	}
	x := &exec{ctx: ctx, set: r.set, world: r.world, others: r, out: newOutput(len(file.src.text))}
	if r.trace == nil {
		return x.runFile(file, r.dot)
	}
	x.tracer = r.trace(name)
	docs, err := x.runFile(file, r.dot)
	x.tracer.End(docs, err)
	return docs, err
}

// runFile runs a whole file.
func (x *exec) runFile(file *routine, dot any) (docs []*Document, err error) {
	defer panics.Catch(&err, "rendering "+file.src.file)
	if err := x.callRoutine(pos{file.src, 0}, file, dot); err != nil {
		return nil, err
	}
	return x.set.fillDocuments(x.ctx, file, x.out)
}

// outcomeOf runs a file that others render or await, once. Its text is made at once, since the
// documents are given away. Until it ends, whoever awaits it waits: files may await each other.
func (r *Rendering) outcomeOf(ctx context.Context, name string) *outcome {
	if out := r.known[name]; out != nil {
		return out
	}
	out := &outcome{err: &Wait{"a file that it awaits awaits it"}}
	if r.known == nil {
		r.known = map[string]*outcome{}
	}
	r.known[name] = out
	out.docs, out.err = r.executeFile(ctx, name)
	if out.err == nil && r.set.shared[name] {
		out.text, out.textErr = r.set.documentsText(out.docs)
		out.sealed = slices.ContainsFunc(out.docs, (*Document).hasSecret)
	}
	return out
}

// documentsText returns documents as YAML, keys sorted.
func (s *Set) documentsText(docs []*Document) (string, error) {
	texts, size := make([]string, len(docs)), 0
	for i, d := range docs {
		text, err := callText(s.limits.Functions, "toYaml", d.Object)
		if err != nil {
			return "", err
		}
		texts[i] = text + "\n"
		if size += len(texts[i]); size > s.limits.Functions.Bytes {
			return "", fmt.Errorf("the text is longer than %d bytes: %w", s.limits.Functions.Bytes, ErrBudget)
		}
	}
	return strings.Join(texts, separator+"\n"), nil
}

// callRendered implements the function rendered.
func callRendered(x *exec, _ pos, args []any) (any, error) {
	out := x.others.outcomeOf(x.ctx, args[0].(string))
	if out.err != nil {
		return nil, out.err
	}
	x.noteSecret(out.sealed)
	return x.chargeText(out.text, out.textErr)
}
