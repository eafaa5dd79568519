package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/offline"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// samples renders the example and the golden cases, and checks what comes of
// them.
func (l *linter) samples(ctx context.Context) {
	example := filepath.Join(l.catalog.Roots[l.name], "examples", l.name+".yaml")
	if _, err := os.Stat(example); err == nil {
		l.sample(ctx, sample{class: Example, file: example})
	}
	cases, err := l.catalog.Cases(l.name)
	l.findings = append(l.findings, findings(Golden, err)...)
	for _, one := range cases {
		file := filepath.Join(one.Dir, "cr.yaml")
		if len(one.Wants) == 0 {
			l.add(Golden, template.Place{File: file, Line: 1, Column: 1}, "this case wants nothing: run jacquard test --update, and read what it writes")
		}
		if _, statusWanted := one.Wants[offline.FileWantStatus]; statusWanted && !l.kind.HasStatus {
			l.add(Golden, template.Place{File: filepath.Join(one.Dir, offline.FileWantStatus), Line: 1, Column: 1}, "the folder has no status.yaml: remove this file")
		}
		_, fails := one.Wants[offline.FileWantError]
		l.sample(ctx, sample{class: Golden, file: file, cluster: filepath.Join(one.Dir, "cluster.yaml"), fails: fails})
	}
}

// A sample is a file with a resource of the kind.
type sample struct {
	class flow.Class
	file  string
	// cluster is the file of what is in the cluster; it need not be there.
	cluster string
	// fails: it is there to be refused.
	fails bool
}

// sample renders a file.
func (l *linter) sample(ctx context.Context, s sample) {
	file, err := offline.Open(s.file, nil)
	if err != nil {
		l.findings = append(l.findings, findings(s.class, err)...)
		return
	}
	resources, others, err := l.catalog.Resources(file.Objects)
	if err != nil {
		if !s.fails {
			l.findings = append(l.findings, findings(s.class, err)...)
		}
		return
	}
	cluster, err := l.cluster(s, others)
	if err != nil {
		l.findings = append(l.findings, findings(s.class, err)...)
		return
	}
	found := 0
	for _, r := range resources {
		if r.Kind.Name == l.name {
			found++
			l.render(ctx, s, r, cluster)
		}
	}
	if found == 0 {
		l.add(s.class, template.Place{File: s.file, Line: 1, Column: 1}, fmt.Sprintf("there is no %s in this file: write one", l.kind.GVK.Kind))
	}
}

// cluster is what the sample's templates read.
func (l *linter) cluster(s sample, others []*offline.Object) (*offline.Cluster, error) {
	if s.cluster == "" {
		return l.catalog.Cluster(nil, others)
	}
	given, err := offline.Open(s.cluster, nil)
	if errors.Is(err, fs.ErrNotExist) {
		given, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return l.catalog.Cluster(given, others)
}

// render renders one resource and checks its children.
func (l *linter) render(ctx context.Context, s sample, r *offline.Resource, cluster *offline.Cluster) {
	world := cluster.For(l.kind, r.Object)
	result, err := render.Children(ctx, l.kind, r.Object, world)
	if err != nil {
		if !s.fails {
			for _, f := range findings(s.class, err) {
				f.Text = fmt.Sprintf("%s does not render: %s", r.Source.Place(""), f.Text)
				l.findings = append(l.findings, f)
			}
		}
		return
	}
	for _, child := range result.Children {
		l.child(child, r.Source.Place(""))
	}
}

// child checks a rendered child against its type. What a line says wrongly of
// itself is not said again.
func (l *linter) child(c render.Child, from string) {
	if c.Policy.Subresource == "scale" {
		return
	}
	said := map[template.Place]bool{}
	for _, f := range l.findings {
		said[template.Place{File: f.Place.File, Line: f.Place.Line}] = true
	}
	for _, w := range l.wrongs(c) {
		place := c.Doc.Place(w.path...)
		if !said[template.Place{File: place.File, Line: place.Line}] {
			l.add(InvalidChild, place, strings.TrimSpace(w.text)+" (rendered for "+from+")")
		}
	}
}
