package lsp

import (
	_ "embed" // of the functions
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// functionsText is what docs/reference.md says of each function: its name, its arguments
// and what it returns, parted by tabs. A test writes it.
//
//go:embed functions.txt
var functionsText string

// A function is one that templates may call.
type function struct{ name, args, returns string }

// functions are all of them by name.
var functions = sync.OnceValue(func() map[string]function {
	all := map[string]function{}
	for line := range strings.SplitSeq(strings.TrimSpace(functionsText), "\n") {
		parts := strings.Split(line, "\t")
		all[parts[0]] = function{parts[0], parts[1], parts[2]}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(funcs.Table())), template.Specials()) {
		if _, told := all[name]; !told {
			all[name] = function{name: name}
		}
	}
	return all
})

// describeFunction describes the function for people.
func (f function) describeFunction() string {
	text := fenceCode("", strings.TrimSpace(f.name+" "+f.args))
	if f.returns != "" {
		text += "\nReturns " + f.returns + "."
	}
	return text
}

// keywords begin an action.
var keywords = []string{"if", "else", "end", "range", "with", "define", "template", "break", "continue", "block"}

// typeText is a type as people say it.
func typeText(t *schema.Type) string {
	switch {
	case t.Kind() == schema.KindList:
		return "list of " + typeText(t.Elem())
	case t.Kind() == schema.KindFreeMap:
		return "map of " + typeText(t.Elem())
	}
	return t.Kind().String()
}

// describeType returns what a schema documents about a place.
func describeType(t *schema.Type) string {
	var all []string
	if note := t.Description(); note != "" {
		all = append(all, note)
	}
	if value := t.Default(); value != nil {
		all = append(all, fmt.Sprintf("Default: `%v`", value))
	}
	if enum := t.Enum(); len(enum) > 0 {
		words := make([]string, len(enum))
		for i, value := range enum {
			words[i] = fmt.Sprintf("`%v`", value)
		}
		all = append(all, "One of "+strings.Join(words, ", "))
	}
	return strings.Join(all, "\n\n")
}

// sourceText is where a value comes from, for people.
func sourceText(s typecheck.Source, kindName string) string {
	of := ""
	if s.Path != "" {
		of = "`" + s.Path + "` of "
	}
	switch {
	case s.Read == "":
		return of + "the resource (" + kindName + ")"
	case s.File != "":
		return of + s.Read + ", the child of `" + s.File + ".yaml`"
	case s.Read == "config":
		return "the setting `" + s.Path + "`"
	case s.Read == "file":
		return "the file `files/" + s.Path + "`"
	}
	return of + s.Read
}

// groupVersions are the kinds of Kubernetes and of the catalog by apiVersion.
func (q *query) groupVersions() map[string][]string {
	all := schema.BuiltIns()
	all["apiextensions.k8s.io/v1"] = []string{"CustomResourceDefinition"}
	for _, among := range []map[string]*schema.CRD{q.catalog.CRDs, q.catalog.Schemas} {
		for _, crd := range among {
			for _, v := range crd.Versions {
				gv := apischema.GroupVersion{Group: crd.Group, Version: v.Name}.String()
				all[gv] = append(slices.Clone(all[gv]), crd.Kind)
			}
		}
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
