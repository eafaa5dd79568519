package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/lint"
)

// showTypo breaks a copy of the kind, and shows what lint finds in it.
func (s *screen) showTypo(ctx context.Context) error {
	const right, wrong = ".spec.greeting", ".spec.greting"
	root, err := os.MkdirTemp("", "try-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := os.CopyFS(root, os.DirFS(page)); err != nil {
		return err
	}
	file := filepath.Join(root, "templates", pages, "pod.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	broken := strings.Replace(string(text), right, wrong, 1)
	if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
		return err
	}
	loaded, err := catalog.Load([]string{root})
	if err != nil {
		return err
	}
	found := lint.Check(ctx, loaded, pages)
	if len(found) != 1 || found[0].Place.File != file || !strings.Contains(found[0].Text, wrong[1:]) {
		return fmt.Errorf("lint did not find the misspelt field, but %v", found)
	}
	s.printHeading("2. A typo, found before anything runs")
	s.printText("In a copy of that template %s becomes %s. Lint needs neither a resource nor a cluster to see it:\n\n", right, wrong)
	f := found[0]
	line := strings.Split(broken, "\n")[f.Place.Line-1]
	f.Place.File = strings.TrimPrefix(f.Place.File, root+string(filepath.Separator))
	number := fmt.Sprintf("%5d", f.Place.Line)
	s.printText("  %s\n", f.Error())
	s.printText("  %s | %s\n", number, line)
	s.printText("  %s | %s%s %s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", f.Place.Column-1),
		s.styleText("31", strings.Repeat("^", max(1, f.Length))), f.Class)
	return nil
}
