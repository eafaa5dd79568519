package funcs

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type (
	m = map[string]any
	l = []any
)

// call calls a function with the default limits; Go's int stands for int64.
func call(t *testing.T, name string, args ...any) (any, error) {
	t.Helper()
	f := Table()[name]
	if f == nil {
		t.Fatalf("there is no function %s", name)
	}
	return f.Call(int64s(args).([]any), Limits{})
}

// int64s gives a value with each int as int64, so that tests can write 1.
func int64s(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = int64s(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = int64s(v[key])
		}
		return out
	}
	return v
}

func TestFunctions(t *testing.T) {
	called := map[string]bool{}
	for _, c := range slices.Concat(textCases, listCases, numberCases, codeCases, otherCases) {
		called[c.name] = true
		got, err := call(t, c.name, c.args...)
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.args, err)
			continue
		}
		if diff := cmp.Diff(int64s(c.want), got); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", c.name, c.args, diff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(Table())) {
		if !called[name] {
			t.Errorf("%s has no case", name)
		}
	}
}

type funcCase struct {
	name string
	args []any
	want any
}
