package schema

import (
	_ "embed"
	"reflect"
	"strings"
	"sync"
)

// marksText says of the Go types of built-in kinds what their comments say and
// their tags do not: "core/v1.PullPolicy: Always,Never" are the only texts of a
// type, "apps/v1.StatefulSetSpec.serviceName" is a field that may be left out.
//
//go:embed marks.txt
var marksText string

var marks = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(marksText) {
		name, words, listed := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = nil
		if listed {
			all[name] = strings.Split(words, ",")
		}
	}
	return all
})

// markName is how marksText calls a Go type.
func markName(in reflect.Type) string {
	return strings.TrimPrefix(in.PkgPath(), "k8s.io/api/") + "." + in.Name()
}

// enumType returns the type of a Go type of texts, which may be a few words only.
func enumType(in reflect.Type) *Type { return Either(marks()[markName(in)]...) }

// mayOmit reports whether a field may be left out though its tag does not say so.
func mayOmit(in reflect.Type, field string) bool {
	_, optional := marks()[markName(in)+"."+field]
	return optional
}
