package playground

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/fstest"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/explain"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// The files of an Input that are not those of a root.
const (
	Resource = "resource.yaml" // the custom resource, and objects that templates read
	Cluster  = "cluster.yaml"  // objects that stand for the cluster
)

// An Input is what somebody wrote.
type Input struct {
	// Files are their texts by path: Resource, Cluster, and those of a root.
	Files map[string]string `json:"files"`
	// Naive: Output.Naive is wanted.
	Naive bool `json:"naive,omitempty"`
}

// An Output is what comes of it. What could not be made is empty, and Findings say why.
type Output struct {
	// Objects are the children as `jacquard render` prints them, and Waits its lines on
	// files that wait.
	Objects string `json:"objects"`
	Waits   string `json:"waits"`
	// Status is what status.yaml gives, as YAML.
	Status string `json:"status"`
	// Findings are those of `jacquard lint`, and the errors of rendering, without a class.
	Findings []Finding `json:"findings"`
	// Partial: a file does not load, so what depends on it was not looked at, and more may
	// be found once it is mended.
	Partial bool `json:"partial,omitempty"`
	// Roles are what `jacquard rbac --include kinds,users` prints.
	Roles string `json:"roles"`
	// Explanation is what `jacquard explain` prints.
	Explanation string `json:"explanation"`
	// Naive is what Go's text/template makes of the templates, for comparison.
	Naive string `json:"naive,omitempty"`
}

// A Finding is something that is wrong at a place. Line and Column count from one; they
// are 0 if it is about no line.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Class  string `json:"class"`
	Text   string `json:"text"`
}

// Run renders, checks and explains what somebody wrote. A panic is a finding
// too.
func Run(ctx context.Context, in Input) Output {
	var out Output
	out.addFailure(out.run(ctx, in))
	if out.Findings == nil {
		out.Findings = []Finding{}
	}
	return out
}

func (out *Output) add(err error) { out.addFindings(lint.Findings(err)) }

// addFailure adds what keeps something from being rendered. It has none of lint's classes.
func (out *Output) addFailure(err error) {
	all := lint.Findings(err)
	for i := range all {
		all[i].Class = ""
	}
	out.addFindings(all)
}

// addFindings adds findings, each once.
func (out *Output) addFindings(all []typecheck.Finding) {
	for _, f := range all {
		one := Finding{f.Place.File, f.Place.Line, f.Place.Column, string(f.Class), f.Text}
		if !slices.ContainsFunc(out.Findings, func(o Finding) bool { return o.Text == one.Text && o.File == one.File && o.Line == one.Line }) {
			out.Findings = append(out.Findings, one)
		}
	}
}

func (out *Output) run(ctx context.Context, in Input) (err error) {
	defer panics.Catch(&err, "rendering")
	root := fstest.MapFS{}
	for name, text := range in.Files {
		if name != Resource && name != Cluster {
			root[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
		}
	}
	loaded, err := catalog.LoadTrees([]catalog.Tree{{Dir: ".", FS: root}}, catalog.NewCache())
	out.Partial = err != nil || len(loaded.Broken)+len(loaded.Trouble) > 0
	if err != nil {
		return err
	}
	out.add(errors.Join(loaded.Trouble...))
	what, err := readInput(loaded, in)
	for _, r := range what.resources { // lint looks at what examples come to
		if file := exampleOf(r.Kind.Name); root[file] == nil {
			root[file] = &fstest.MapFile{Data: []byte(in.Files[Resource]), Mode: 0o444}
		}
	}
	out.lintKinds(ctx, loaded, in)
	out.printRoles(loaded)
	if err != nil {
		return err
	}
	return out.render(ctx, loaded, what, in.Naive)
}

func exampleOf(kind string) string { return "examples/" + kind + ".yaml" }

// lintKinds lints all kinds. Of a kind without an example, Resource is the example. Whether that
// renders is a finding of render alone, since lint does not have Cluster.
func (out *Output) lintKinds(ctx context.Context, loaded *catalog.Catalog, in Input) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(loaded.Kinds)), maps.Keys(loaded.Broken))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		all := lint.Look(ctx, loaded, name).Findings
		if _, own := in.Files[exampleOf(name)]; !own {
			all = slices.DeleteFunc(all, func(f typecheck.Finding) bool { return f.Class == lint.Example })
			for i := range all {
				all[i].Text = strings.ReplaceAll(all[i].Text, exampleOf(name), Resource)
			}
		}
		out.addFindings(all)
	}
}

// printRoles prints the roles of all kinds.
func (out *Output) printRoles(loaded *catalog.Catalog) {
	var roles []rbac.Role
	for _, name := range slices.Sorted(maps.Keys(loaded.Kinds)) {
		k := loaded.Kinds[name]
		of, err := rbac.Of(rbac.Input{CRD: k.CRD, Kind: k, Plural: loaded.Plural})
		out.add(err)
		roles = append(append(roles, of...), rbac.UserRoles(k.CRD, k)...)
	}
	var text strings.Builder
	operator := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "jacquard", Name: "jacquard"}
	out.add(rbac.Write(&text, roles, rbac.Binding{Operator: operator}))
	out.Roles = text.String()
}

// A given is what is to be rendered.
type given struct {
	resources []*catalog.Resource
	cluster   *catalog.Cluster
}

// readInput reads Resource and Cluster. If only Cluster is wrong, it returns the resources beside
// the error.
func readInput(loaded *catalog.Catalog, in Input) (given, error) {
	file, err := catalog.Read(Resource, []byte(in.Files[Resource]))
	if err != nil {
		return given{}, err
	}
	resources, others, err := loaded.Resources(file.Objects)
	if err == nil && len(resources) == 0 {
		err = fmt.Errorf("%s: there is no resource of a known kind; known are: %s", Resource, loaded.Known())
	}
	if err == nil {
		err = catalog.Twice(resources)
	}
	if err != nil {
		return given{}, err
	}
	what := given{resources: resources}
	var cluster *catalog.File // nil: nothing is known of the cluster
	if text := in.Files[Cluster]; strings.TrimSpace(text) != "" {
		if cluster, err = catalog.Read(Cluster, []byte(text)); err != nil {
			return what, err
		}
	}
	what.cluster, err = loaded.Cluster(cluster, others)
	return what, err
}

// render renders and explains the resources.
func (out *Output) render(ctx context.Context, loaded *catalog.Catalog, what given, naively bool) error {
	sound := len(loaded.Trouble) == 0
	for i, r := range what.resources {
		done, err := catalog.Render(ctx, r, what.cluster)
		if err != nil {
			return err
		}
		var text strings.Builder
		if i > 0 {
			text.WriteString("\n")
		}
		if err := explain.Write(&text, explain.Of(explain.Input{Kind: r.Kind, Resource: r.Object, Traced: done.Traced}), true); err != nil {
			return err
		}
		out.Explanation += text.String()
		out.addFailure(done.Err)
		if naively {
			out.Naive += renderNaively(loaded, r)
		}
		if done.Traced.Result == nil {
			sound = false
			continue
		}
		children, waits, err := catalog.Print(r, done.Traced.Result)
		if err != nil {
			return err
		}
		out.Objects += children
		out.Waits += waits
		if len(done.Traced.Status) > 0 {
			status, err := funcs.YAML(done.Traced.Status)
			if err != nil {
				return err
			}
			out.Status += string(status)
		}
	}
	if !sound { // as `jacquard render`, which prints nothing if there is an error
		out.Objects, out.Waits = "", ""
	}
	return nil
}
