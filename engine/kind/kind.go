package kind

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Kind is a CRD and its folder, compiled. It is immutable.
type Kind struct {
	// Name is the CRD's name, <plural>.<group>.
	Name    string
	CRD     *schema.CRD
	Version *schema.Version
	// GVK is what the custom resources are read as.
	GVK      apischema.GroupVersionKind
	Settings Settings
	// Files are the names of the files that make children, sorted.
	Files []string
	// HasStatus says whether the folder has a status.yaml.
	HasStatus bool
	// Children are the kinds that the folder can create, sorted.
	Children []Child
	// Documents are the literal documents of all files: what the folder can
	// create or patch.
	Documents []Document
	// Config are the settings of the installation, by key.
	Config map[string]any
	// Asks are the questions that the templates put to the cluster.
	Asks []template.Ask
	// Digest tells two versions of a folder apart.
	Digest string

	Templates *template.Set

	made map[string][]apischema.GroupVersionKind // by file
}

// A Child is a kind of object that a folder can create, and the first place
// that says so.
type Child struct {
	apischema.GroupVersionKind
	Place template.Place
}

// A Document is a literal apiVersion and kind in a file, and what the document
// says of itself in literal annotations of ours.
type Document struct {
	apischema.GroupVersionKind
	Place template.Place
	// File is the file's name without .yaml.
	File string
	// Marks are the literal annotations of ours.
	Marks map[string]string
}

// Patch says whether the document is a patch of somebody else's object.
func (d Document) Patch() bool { return d.Marks[api.AnnotationOwnership] == "patch" }

// statusFile is the name that status.yaml is compiled under.
const statusFile = "status"

// Compile understands a folder for its CRD. Its error joins everything that is
// wrong with it.
func Compile(f *folder.Folder, crd *schema.CRD, limits template.Limits) (*Kind, error) {
	if f.Name != crd.Name {
		return nil, fmt.Errorf("compiling folder %s: its CRD is named %s", f.Name, crd.Name)
	}
	var errs []error
	settings, written, err := readSettings(f.Settings)
	if err != nil {
		errs = append(errs, err)
	}
	version, err := crd.Version(settings.Version)
	if err != nil {
		return nil, errors.Join(append(errs, written.about("version", f.Name, err))...)
	}
	set, err := template.Compile(template.Input{Sources: sources(f), Limits: limits})
	errs = append(errs, err)
	k := &Kind{
		Name: crd.Name, CRD: crd, Version: version, Settings: settings, Templates: set,
		GVK:       apischema.GroupVersionKind{Group: crd.Group, Version: version.Name, Kind: crd.Kind},
		HasStatus: f.Status != nil, Asks: set.Asks(), Digest: f.Digest,
	}
	errs = append(errs, k.findChildren(f), k.checkPartials(f), k.check())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return k, nil
}

// checkPartials checks the lines of partials, and refuses what stands outside
// of any define: nothing prints it.
func (k *Kind) checkPartials(f *folder.Folder) error {
	var errs []error
	for _, p := range f.Partials {
		errs = append(errs, checkLines(p)...)
		tree := k.Templates.Tree(p.Shown)
		if tree == nil {
			continue
		}
		for _, n := range tree.Root.Nodes {
			if text, ok := n.(*parse.TextNode); ok && len(bytes.TrimSpace(text.Text)) == 0 {
				continue
			}
			place := k.Templates.Place(tree, n)
			if text, ok := n.(*parse.TextNode); ok {
				lead := text.Text[:len(text.Text)-len(bytes.TrimLeft(text.Text, " \t\r\n"))]
				if breaks := bytes.Count(lead, []byte("\n")); breaks > 0 {
					place.Line, place.Column = place.Line+breaks, len(lead)-bytes.LastIndexByte(lead, '\n')
				}
			}
			errs = append(errs, &template.Error{Place: place, Err: errors.New("this stands outside of any define, and so nothing prints it: a partial holds {{ define \"name\" }} … {{ end }}")})
			break
		}
	}
	return errors.Join(errs...)
}

// sources are the templates of a folder.
func sources(f *folder.Folder) []template.Source {
	var all []template.Source
	for _, c := range f.Children {
		all = append(all, template.Source{Name: stem(c), File: c.Shown, Text: string(c.Data)})
	}
	for _, p := range f.Partials {
		all = append(all, template.Source{Name: p.Shown, File: p.Shown, Text: string(p.Data)})
	}
	if f.Status != nil {
		all = append(all, template.Source{Name: statusFile, File: f.Status.Shown, Text: string(f.Status.Data)})
	}
	return all
}

func stem(f folder.File) string { return strings.TrimSuffix(f.Name, ".yaml") }

// findChildren reads out of the literal lines of every file what it can make.
func (k *Kind) findChildren(f *folder.Folder) error {
	var errs []error
	k.made = map[string][]apischema.GroupVersionKind{}
	for _, file := range f.Children {
		if k.Templates.Tree(stem(file)) == nil {
			continue
		}
		k.Files = append(k.Files, stem(file))
		found, err := literalChildren(file, k.Templates.Tree(stem(file)))
		errs = append(errs, err)
		for _, c := range found {
			k.made[stem(file)] = append(k.made[stem(file)], c.GroupVersionKind)
			errs = append(errs, k.add(c))
		}
	}
	slices.Sort(k.Files)
	slices.SortFunc(k.Children, func(a, b Child) int { return strings.Compare(a.String(), b.String()) })
	return errors.Join(errs...)
}

// add takes up a kind of child, once.
func (k *Kind) add(c Child) error {
	if c.GroupKind() == k.GVK.GroupKind() {
		return &template.Error{Place: c.Place, Err: fmt.Errorf("a folder may not create its own kind %s", c.Kind)}
	}
	of, list := strings.CutSuffix(c.Kind, "List")
	if list && (of == "" || schema.BuiltIn(c.GroupVersion().WithKind(of))) {
		return &template.Error{Place: c.Place, Err: errors.New("a List is not allowed: write its items as documents parted by ---")}
	}
	if schema.ClusterScoped(c.GroupKind()) {
		return &template.Error{Place: c.Place, Err: fmt.Errorf("%s is cluster-scoped: a child must live in the namespace of its resource", c.Kind)}
	}
	if wrong := schema.Misplaced(c.GroupVersionKind); wrong != "" {
		return &template.Error{Place: c.Place, Err: errors.New(wrong)}
	}
	if !slices.ContainsFunc(k.Children, func(x Child) bool { return x.GroupVersionKind == c.GroupVersionKind }) {
		k.Children = append(k.Children, c)
	}
	return nil
}

// Creates says whether the folder can create this kind.
func (k *Kind) Creates(gvk apischema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Children, func(c Child) bool { return c.GroupVersionKind == gvk })
}

// Makes returns the kinds of children that a file can create.
func (k *Kind) Makes(file string) []apischema.GroupVersionKind { return k.made[file] }

// Reads says whether a template reads live children of this kind.
func (k *Kind) Reads(gvk apischema.GroupVersionKind) bool {
	for _, a := range k.Asks {
		switch a.Function {
		case "child", "children", "await", "stable":
			if slices.Contains(k.made[a.Args[0]], gvk) {
				return true
			}
		}
	}
	return false
}
