package playground

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/scaffold"
)

// A Start is something to begin with.
type Start struct {
	// Group is kinds, larger, patterns, own or attack, and Name the name of the CRD.
	Group string `json:"group"`
	Name  string `json:"name"`
	Input
}

// Starts are all that the repository has: the shipped kinds, the larger ones, the patterns,
// a new kind, and the kind whose example tries an injection.
func Starts(repository fs.FS) ([]Start, error) {
	own, err := ownStart()
	if err != nil {
		return nil, err
	}
	var all []Start
	for _, from := range []struct{ group, root string }{
		{"kinds", "."},
		{"larger", "examples/kinds/webapp"}, {"larger", "examples/kinds/webhosting"}, {"larger", "examples/kinds/memcached"},
		{"patterns", "examples/patterns"},
		{"attack", "author/try/page"},
	} {
		root, err := fs.Sub(repository, from.root)
		if err != nil {
			return nil, err
		}
		if from.group == "attack" {
			all = append(all, own)
		}
		crds, err := fs.Glob(root, "crds/*.yaml")
		if err != nil {
			return nil, err
		}
		if len(crds) == 0 {
			return nil, fmt.Errorf("%s: there is nothing in crds/", from.root)
		}
		for _, crd := range crds {
			one := Start{Group: from.group, Name: strings.TrimSuffix(path.Base(crd), ".yaml"), Input: Input{Naive: from.group == "attack"}}
			if one.Files, err = startFiles(root, one.Name); err != nil {
				return nil, err
			}
			if err := one.useLargestCase(root); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// ownStart is what `jacquard new Greeting --group example.com` makes.
func ownStart() (Start, error) {
	names, err := scaffold.ParseNames("Greeting", scaffold.Names{Group: "example.com"})
	if err != nil {
		return Start{}, err
	}
	draft, err := scaffold.Form(scaffold.FormConfigMap, names)
	if err != nil {
		return Start{}, err
	}
	one := Start{Group: "own", Name: draft.Name, Input: Input{Files: map[string]string{Cluster: ""}}}
	for _, file := range draft.Files {
		switch {
		case file.Path == draft.Example:
			one.Files[Resource] = string(file.Data)
		case !strings.Contains(file.Path, "/tests/"):
			one.Files[file.Path] = string(file.Data)
		}
	}
	return one, nil
}

// useLargestCase takes the resource and the cluster of the golden case that makes most, if the
// example makes nothing since the cluster has nothing.
func (s *Start) useLargestCase(root fs.FS) error {
	if Run(context.Background(), s.Input).Objects != "" {
		return nil
	}
	cases, err := fs.Glob(root, "templates/"+s.Name+"/tests/*/cluster.yaml")
	if err != nil {
		return err
	}
	most, resource, cluster := 0, s.Files[Resource], ""
	for _, file := range cases {
		for as, name := range map[string]string{Resource: "resource.yaml", Cluster: "cluster.yaml"} {
			text, err := fs.ReadFile(root, path.Join(path.Dir(file), name))
			if err != nil {
				return err
			}
			s.Files[as] = string(text)
		}
		if made := len(Run(context.Background(), s.Input).Objects); made > most {
			most, resource, cluster = made, s.Files[Resource], s.Files[Cluster]
		}
	}
	s.Files[Resource], s.Files[Cluster] = resource, cluster
	return nil
}

// startFiles are those of one kind. Its golden cases are left out.
func startFiles(root fs.FS, name string) (map[string]string, error) {
	files := map[string]string{Cluster: ""}
	take := func(file, as string) error {
		text, err := fs.ReadFile(root, file)
		files[as] = string(text)
		return err
	}
	errs := []error{take("crds/"+name+".yaml", "crds/"+name+".yaml"), take("examples/"+name+".yaml", Resource)}
	for _, dir := range []string{"templates/" + name, "templates/_lib", "schemas"} {
		err := fs.WalkDir(root, dir, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && file == dir && dir != "templates/"+name:
				return nil
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "tests":
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			return take(file, file)
		})
		errs = append(errs, err)
	}
	return files, errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}
