package pack

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// The parts of what is written.
const (
	Base   = "base"
	Roles  = "roles"
	Users  = "users"
	CRD    = "crd"
	Folder = "folder"
)

// Parts are what can be written of a kind, in the order in which it is: the
// rights come before what needs them.
var Parts = []string{Roles, Users, CRD, Folder}

// An Install is the installation that is to learn a kind.
type Install struct {
	// Namespace is the operator's own; Name is that of the ClusterRole which takes
	// up the roles of its kinds.
	Namespace, Name string
	// Account is the operator's service account.
	Account rbacv1.Subject
}

// An Input is a kind to pack.
type Input struct {
	// Kind has the settings of the installation, if it is to get any.
	Kind   *kind.Kind
	Folder *folder.Folder
	// CRD is the file of crds/.
	CRD folder.File
	// Plural is the name by which the API serves a kind that is not built in.
	Plural func(apischema.GroupVersionKind) string
}

// WriteBase writes the roles that the installation has whatever its kinds.
func WriteBase(to io.Writer, install Install) error {
	roles := rbac.Base(rbac.Installation{Namespace: install.Namespace, Into: install.Name, SecureMetrics: true,
		Identity: install.Namespace + "/" + install.Name, Divides: true})
	return rbac.Write(to, roles, rbac.Binding{})
}

// Write writes these parts of a kind. Its error joins what cannot be packed.
func Write(to io.Writer, in Input, install Install, parts []string) error {
	var text strings.Builder
	var errs []error
	for _, part := range Parts {
		if !slices.Contains(parts, part) {
			continue
		}
		if err := in.write(&text, install, part); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// Check returns what cannot be packed of a kind, for whatever installation.
func Check(in Input) error {
	return Write(io.Discard, in, Install{Namespace: "jacquard", Name: "jacquard"}, Parts)
}

func (in Input) write(to *strings.Builder, install Install, part string) error {
	switch part {
	case Roles:
		roles, err := rbac.Of(rbac.Input{CRD: in.Kind.CRD, Kind: in.Kind, Plural: in.Plural, Into: install.Name})
		if err != nil {
			return err
		}
		return rbac.Write(to, roles, rbac.Binding{Operator: install.Account})
	case Users:
		return rbac.Write(to, rbac.UserRoles(in.Kind.CRD, in.Kind), rbac.Binding{})
	case CRD:
		to.WriteString("---\n" + definition(in.CRD))
		return nil
	}
	parts, err := in.files()
	if err != nil {
		return err
	}
	return in.writeMaps(to, install, split(parts))
}

// definition is the text of a file of crds/ as one document.
func definition(file folder.File) string {
	text := strings.TrimSpace(string(file.Data))
	text = strings.TrimSpace(strings.TrimPrefix(text, "---\n"))
	return strings.TrimSuffix(text, "\n---") + "\n"
}

// A data is a file of the folder under its key in a ConfigMap.
type data struct {
	key  string
	text []byte
}

// files are the files of the folder by key, with those partials that it calls.
func (in Input) files() ([]data, error) {
	f := in.Folder
	var all []data
	for _, file := range f.Children {
		all = append(all, data{file.Name, file.Data})
	}
	for _, file := range []*folder.File{f.Status, f.Settings, f.Config} {
		if file != nil {
			all = append(all, data{file.Name, file.Data})
		}
	}
	for _, file := range f.Partials {
		if in.Kind.Templates.Calls(file.Shown) {
			all = append(all, data{partialKey(file), file.Data})
		}
	}
	if text := in.Kind.RootHealth(); text != nil {
		all = append(all, data{folder.LibHealthName, text})
	}
	for _, file := range f.Files {
		all = append(all, data{strings.Replace(file.Name, "/", "--", 1), file.Data})
	}
	slices.SortFunc(all, func(a, b data) int { return strings.Compare(a.key, b.key) })
	return all, in.check(all)
}

// partialKey is the key of a partial: those of templates/_lib have a beginning
// of their own, so that none is called as one of the folder.
func partialKey(file folder.File) string {
	if !folder.IsLib(file) {
		return file.Name
	}
	return "_lib-" + strings.TrimPrefix(file.Name, "_")
}

// check refuses what would come out of the ConfigMaps as another folder: keys
// that the API refuses, are not unique, or mean something else.
func (in Input) check(all []data) error {
	var errs []error
	contents := map[string][]byte{}
	for _, d := range all {
		if contents[d.key] != nil {
			errs = append(errs, fmt.Errorf("packing %s: two files would be called %s: rename one", in.Kind.Name, d.key))
		}
		if !isKey.MatchString(d.key) || len(d.key) > maxKey {
			errs = append(errs, fmt.Errorf("packing %s: %s cannot be a key of a ConfigMap: rename the file, with letters, digits, -, _ and . only",
				in.Kind.Name, d.key))
		}
		contents[d.key] = append([]byte{}, d.text...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	again, err := folder.FromMap(in.Kind.Name, in.Kind.Name, contents)
	if err != nil {
		return fmt.Errorf("packing %s: %w", in.Kind.Name, err)
	}
	if again.Sum(func(folder.File) bool { return true }, contents[folder.LibHealthName]) != in.sum() {
		return fmt.Errorf("packing %s: it would not come out as the same folder: rename files that begin with files--", in.Kind.Name)
	}
	return nil
}

// sum is the digest of the folder, without settings that override those of its
// config.yaml.
func (in Input) sum() string {
	called := func(file folder.File) bool { return in.Kind.Templates.Calls(file.Shown) }
	return in.Folder.Sum(called, in.Kind.RootHealth())
}
