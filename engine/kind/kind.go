package kind

import (
	"errors"
	"fmt"
	"path"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/status/health"
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
	// HasStatus reports whether the folder has a status.yaml.
	HasStatus bool
	// Children are the kinds that the folder can create, sorted; kinds that it
	// only patches are not among them.
	Children []Child
	// Documents are the literal documents of all files: what the folder can
	// create or patch.
	Documents []Document
	// Config are the settings of the installation, by key: those of config.yaml and,
	// in place of some, Overrides.
	Config map[string]any
	// Overrides are settings that override those of config.yaml, by key; nil if
	// neither the folder nor a file brings settings for the kind.
	Overrides map[string]any
	// Asks are the questions that the templates put to the cluster.
	Asks []template.Ask
	// readNeeds are what the templates use of the kinds that they read.
	readNeeds map[apischema.GroupVersionKind]live.Need
	// Digest tells two versions of a folder apart, by what they render: it is the
	// same wherever the folder comes from, and whatever partials lie beside it
	// that it does not call.
	Digest string

	Templates *template.Set
	// Health are the health expressions for the kinds that the folder renders or reads.
	Health *health.Set
	// HealthEntries are those that authors wrote, of the folder and then of its root.
	HealthEntries []HealthEntry

	made map[string][]apischema.GroupVersionKind // owned kinds by file
	// beside is a kind that a file makes in a document beside one of another
	// kind, by file.
	beside map[string]string
	// open are the files that may make documents which are not literal.
	open map[string]bool
	// written are the places of kind.yaml.
	written places
	site    Site
}

// A Child is a kind of object that a folder can create, and the start of the
// first document that says so.
type Child struct {
	apischema.GroupVersionKind
	Place template.Place
}

// A Document is a literal apiVersion and kind in a file, and what the document
// says of itself in literal annotations of ours.
type Document struct {
	apischema.GroupVersionKind
	// Place is the later of the lines that say apiVersion and kind, and Start the
	// earlier: how people call the document.
	Place, Start template.Place
	// File is the file's name without .yaml.
	File string
	// Names are the names that it can have; nil: any.
	Names []Name
	// Marks are the literal annotations of ours.
	Marks map[string]string
	// Certain are those of them that the document has in every branch.
	Certain map[string]bool
}

// SetsRollout reports whether kind.yaml says how a changed folder reaches the resources.
func (k *Kind) SetsRollout() bool {
	_, written := k.written["rollout"]
	return written
}

// Patch reports whether the document is a patch of somebody else's object.
func (d Document) Patch() bool { return d.Marks[api.AnnotationOwnership] == ownershipPatch }

// Subresource is the subresource that is patched, or "".
func (d Document) Subresource() string { return d.Marks[api.AnnotationSubresource] }

// statusFile is the name that status.yaml is compiled under.
const statusFile = "status"

// Compile understands a folder for its CRD, with the settings that it brings. Its error joins everything that is
// wrong with it; it is an *Undeclared if that is only what templates read.
func Compile(f *folder.Folder, crd *schema.CRD) (*Kind, error) {
	return CompileWith(f, crd, func(*Kind) error { return nil })
}

// CompileWith is Compile with a further check of what templates read. What Compile
// refuses, CompileWith refuses too; where check finds anything, its errors stand for those
// of Compile's own check.
func CompileWith(f *folder.Folder, crd *schema.CRD, check func(*Kind) error) (compiled *Kind, err error) {
	defer panics.Catch(&err, "compiling folder "+f.Name)
	k, err := compileKind(f, crd)
	if k == nil {
		return nil, err
	}
	unread := check(k)
	if unread == nil {
		unread = k.checkFields()
	}
	switch {
	case err != nil:
		return nil, errors.Join(err, unread)
	case unread != nil:
		return nil, &Undeclared{Kind: k, Err: unread}
	case f.Overrides != nil:
		return k.WithConfigFile(f.Overrides)
	}
	return k, nil
}

// An Undeclared is the error of a folder that reads fields which its CRD does
// not declare, and has nothing else wrong with it.
type Undeclared struct {
	// Kind is for tools that say more about it.
	Kind *Kind
	Err  error
}

// Error returns a line for each field.
func (u *Undeclared) Error() string { return u.Err.Error() }

// Unwrap returns what is wrong.
func (u *Undeclared) Unwrap() error { return u.Err }

// compileKind returns nil where nothing can be known of the templates. Otherwise, what is wrong
// with the folder stands beside a kind that may be followed.
func compileKind(f *folder.Folder, crd *schema.CRD) (*Kind, error) {
	if f.Name != crd.Name {
		return nil, fmt.Errorf("compiling folder %s: its CRD is named %s", f.Name, crd.Name)
	}
	var errs []error
	settings, written, settingsErr := readSettings(f.Settings)
	if settingsErr != nil {
		errs = append(errs, settingsErr)
	}
	version, err := crd.Version(settings.Version)
	if err != nil {
		return nil, errors.Join(append(errs, written.errorAt("version", f.Name, err))...)
	}
	config, err := readConfig(f.Config)
	errs = append(errs, err)
	set, err := template.Compile(template.Input{Sources: sourcesOf(f), Files: filesByName(f), Config: config})
	errs = append(errs, err)
	k := &Kind{
		Name: crd.Name, CRD: crd, Version: version, Settings: settings, Templates: set,
		GVK:       apischema.GroupVersionKind{Group: crd.Group, Version: version.Name, Kind: crd.Kind},
		HasStatus: f.Status != nil, Asks: set.Asks(), readNeeds: readNeedsOf(set), Config: config, written: written,
	}
	errs = append(errs, k.findDocuments(f))
	k.takeChildren()
	errs = append(errs, k.compileHealth(f))
	k.Digest = f.Sum(func(p folder.File) bool { return set.Calls(p.Shown) }, k.RootHealth())
	if settingsErr == nil {
		errs = append(errs, k.checkSettings(), k.checkRendered(), k.checkPlaces(nil), k.checkAsks(nil))
	}
	errs = append(errs, k.checkPartials(f))
	return k, errors.Join(errs...)
}

// sourcesOf returns the templates of a folder.
func sourcesOf(f *folder.Folder) []template.Source {
	var all []template.Source
	for _, c := range f.Children {
		all = append(all, template.Source{Name: fileStem(c), File: c.Shown, Text: string(c.Data)})
	}
	for _, p := range f.Partials {
		all = append(all, template.Source{Name: p.Shown, File: p.Shown, Text: string(p.Data)})
	}
	if f.Status != nil {
		all = append(all, template.Source{Name: statusFile, File: f.Status.Shown, Text: string(f.Status.Data)})
	}
	return all
}

// filesByName returns the texts of files/, by name.
func filesByName(f *folder.Folder) map[string]string {
	all := map[string]string{}
	for _, file := range f.Files {
		all[path.Base(file.Name)] = string(file.Data)
	}
	return all
}

// fileStem returns the name of a file without .yaml.
func fileStem(f folder.File) string { return strings.TrimSuffix(f.Name, ".yaml") }
