package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// An Outcome is what a golden case, or another resource, came to: texts in canonical form (YAML with
// sorted keys, documents parted by ---; for FileWantWaiting a line for each file
// that waits) by the file that wants them.
type Outcome struct {
	Got map[string]string
	// Documents are those of FileWant, in the order of Traced.Result.Children:
	// children with the annotations that say what becomes of them.
	Documents []map[string]any
	// Err is why nothing was rendered; then Got is empty.
	Err error
	// Resource is what was rendered, World what it saw and Traced the way; nil
	// if the resource is refused.
	Resource *Resource
	World    *World
	Traced   *explain.Traced
	// left is what the next step begins with.
	left *remains
}

// Run renders the children and the status of a case; of a step, after the steps
// before it. Its error is about the files of the case, not about what came of them.
func (c *Catalog) Run(ctx context.Context, one *Case) (*Outcome, error) {
	var left *remains
	if one.before != nil {
		before, err := c.Run(ctx, one.before)
		if err != nil {
			return nil, err
		}
		left = before.left
	}
	file, err := one.readGiven(fileResource)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, fmt.Errorf("reading golden case %s: there is no %s", one.Name, fileResource)
	}
	given, err := one.readGiven(fileCluster)
	if err != nil {
		return nil, err
	}
	resources, others, err := c.Resources(file.Objects)
	if err != nil {
		return &Outcome{Err: err, left: left}, nil
	}
	if len(resources) != 1 || resources[0].Kind != one.Kind {
		return nil, fmt.Errorf("%s: it must hold one %s", one.Path(fileResource), one.Kind.GVK.Kind)
	}
	if one.prefix != "" && len(others) > 0 {
		return nil, fmt.Errorf("%s: other objects belong into %s", others[0].Place(""), one.prefix+fileCluster)
	}
	if resources[0].Kind, err = one.configureKind(); err != nil {
		return nil, err
	}
	cluster, err := c.Cluster(given, others)
	if err != nil {
		return nil, err
	}
	if left != nil {
		if err := left.beginStep(one, resources[0], cluster); err != nil {
			return nil, err
		}
	}
	out, err := Render(ctx, resources[0], cluster)
	if err == nil && one.prefix != "" {
		out.left, err = left.nextRemains(out)
	}
	return out, err
}

// configureKind returns the kind with the settings of the case.
func (c *Case) configureKind() (*kind.Kind, error) {
	g, there := c.givens[fileConfig]
	if !there {
		return c.Kind, nil
	}
	return c.Kind.WithConfigFile(&folder.File{Shown: g.name, Data: g.data})
}

// readGiven reads one of the files that say what there is. It returns nil if the file is not there.
func (c *Case) readGiven(file string) (*File, error) {
	g, there := c.givens[file]
	if !there {
		return nil, nil
	}
	return Read(g.name, g.data)
}

// Render renders the children and the status of a resource. Its error is none of
// what came of them: that is in the Outcome.
func Render(ctx context.Context, r *Resource, cluster *Cluster) (*Outcome, error) {
	world := cluster.For(r.Kind, r.Object)
	traced := explain.TraceRender(ctx, r.Kind, r.Object, world)
	out := &Outcome{Resource: r, World: world, Traced: traced}
	if out.Err = errors.Join(traced.Err, traced.StatusErr); out.Err != nil {
		return out, nil
	}
	if out.Err = checkStatus(ctx, r, world, traced.Status); out.Err != nil {
		return out, nil
	}
	return out, out.makeTexts()
}

// makeTexts makes the texts of what was rendered.
func (o *Outcome) makeTexts() (err error) {
	o.Got = map[string]string{}
	for _, w := range o.Traced.Result.Waiting {
		o.Got[FileWantWaiting] += fmt.Sprintf("%s.yaml waits: %s\n", w.File, w.Message)
	}
	for _, child := range o.Traced.Result.Children {
		o.Documents = append(o.Documents, restoreMarks(child))
	}
	if o.Got[FileWant], err = printDocuments(o.Documents); err != nil {
		return err
	}
	if len(o.Traced.Status) > 0 {
		o.Got[FileWantStatus], err = printDocuments([]map[string]any{o.Traced.Status})
	}
	return err
}

// restoreMarks returns a child with the annotations that were taken off it. A case is about them
// too.
func restoreMarks(child render.Child) map[string]any {
	if len(child.Marks) == 0 {
		return child.Object.Object
	}
	u := child.Object.DeepCopy()
	all := maps.Clone(child.Marks)
	maps.Copy(all, u.GetAnnotations())
	u.SetAnnotations(all)
	return u.Object
}

// printDocuments prints documents with sorted keys.
func printDocuments(documents []map[string]any) (string, error) {
	texts := make([]string, len(documents))
	for i, d := range documents {
		text, err := funcs.YAML(d)
		if err != nil {
			return "", fmt.Errorf("printing: %w", err)
		}
		texts[i] = string(text)
	}
	return strings.Join(texts, "---\n"), nil
}

// Canonical brings what a file wants into the form of an Outcome.
func Canonical(name, text string) (string, error) {
	if strings.HasSuffix(name, FileWantWaiting) {
		return strings.ReplaceAll(text, "\r\n", "\n"), nil
	}
	documents, err := Documents(name, text)
	if err != nil {
		return "", err
	}
	return printDocuments(documents)
}

// Documents are what a file wants, one by one.
func Documents(name, text string) ([]map[string]any, error) {
	var documents []map[string]any
	var errs []error
	for _, p := range splitDocuments([]byte(text)) {
		o, err := p.parse(name)
		errs = append(errs, err)
		if o != nil {
			fields, _ := o.value.(map[string]any)
			documents = append(documents, fields)
		}
	}
	return documents, errors.Join(errs...)
}
