package health

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/yaml"
)

//go:embed builtin.yaml
var builtInText []byte

// BuiltIn returns the list of entries that every operator has. It is no part of a
// folder's digest.
func BuiltIn() List { return builtIn() }

var builtIn = sync.OnceValue(func() List {
	list, err := readBuiltIn(builtInText)
	if err != nil {
		panic(err) // the file is part of the program, and its test reads it
	}
	return list
})

func readBuiltIn(text []byte) (List, error) {
	var file struct {
		HealthCheckExprs []Entry `json:"healthCheckExprs"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("reading the built-in health expressions: %w", err)
	}
	list, wrong := CompileList(file.HealthCheckExprs)
	var errs []error
	for _, err := range wrong {
		errs = append(errs, err)
	}
	return list, errors.Join(errs...)
}
