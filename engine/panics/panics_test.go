package panics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func try(f func()) (err error) {
	defer Catch(&err, "serving things.example.com")
	f()
	return nil
}

// TestCatch: a panic becomes an error that says what was being done and where,
// and holds nothing that may come from a resource.
func TestCatch(t *testing.T) {
	var items []int
	for want, f := range map[string]func(){
		"serving things.example.com: panic: runtime error: index out of range [0] with length 0": func() { items[0]++ },
		"serving things.example.com: panic: a string":                                            func() { panic("secret") },
		"serving things.example.com: panic: a *errors.errorString":                               func() { panic(errors.New("secret")) },
	} {
		err := try(f)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %s", err, want)
		}
		if p := In(fmt.Errorf("around it: %w", err)); p == nil || !strings.Contains(p.Stack, "panics_test.go") {
			t.Errorf("the stack is not there: %v", p)
		}
	}
	if err := try(func() {}); err != nil || In(err) != nil {
		t.Errorf("there was no panic: %v", err)
	}
}
