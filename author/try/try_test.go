package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParts runs every part at the repository's root. Each fails by itself if
// something did not come out as it says.
func TestParts(t *testing.T) {
	t.Chdir("../..")
	for name, one := range map[string]struct {
		part func(*screen, context.Context) error
		want []string
	}{
		"value":   {(*screen).showValue, []string{"value: hello\n", "value: |-"}},
		"typo":    {(*screen).showTypo, []string{"templates/" + pages + "/pod.yaml:11:17: ", "did you mean spec.greeting?", "   11 | "}},
		"shipped": {(*screen).showShipped, []string{"of", "pass", "Deployment, Service"}},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if err := one.part(newScreen(file), t.Context()); err != nil {
				t.Fatal(err)
			}
			out, err := os.ReadFile(file.Name())
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(out)), " ")
			for _, want := range one.want {
				if !strings.Contains(text, strings.TrimSpace(want)) {
					t.Errorf("there is no %q in\n%s", want, out)
				}
			}
		})
	}
}

// TestNoPrivilege: what showValue shows is judged by the Pods, not by their texts.
func TestNoPrivilege(t *testing.T) {
	s := newScreen(os.Stdout)
	plain := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"env": []any{map[string]any{"name": "GREETING", "value": "hello\n  privileged: true"}},
	}}}}
	privileged := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"securityContext": map[string]any{"privileged": true},
	}}}}
	if err := s.judgePods(plain, plain); err == nil {
		t.Error("a Pod without privileges passes as the one of text/template")
	}
	if err := s.judgePods(privileged, privileged); err == nil {
		t.Error("a privileged Pod passes as ours")
	}
	if err := s.judgePods(privileged, plain); err != nil {
		t.Error(err)
	}
}
