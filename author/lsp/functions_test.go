package lsp

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/template"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

var update = flag.Bool("update", false, "write functions.txt and definition.txt")

var (
	functionNames = regexp.MustCompile("^((?:`[^`]+` ?)+)(.*)$")
	markdownLink  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestFunctions: the server says of functions what docs/reference.md says of them, and
// knows all there are.
func TestFunctions(t *testing.T) {
	data, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n## Functions\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var lines []string
	told := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "| "), " | ")
		if len(cells) != 2 || !strings.HasPrefix(cells[0], "`") {
			continue
		}
		groups := strings.Split(cells[0], ", `")
		texts := strings.Split(strings.ReplaceAll(cells[1], "\x00", "|"), "; ")
		for i, group := range groups {
			// What is parted by semicolons is said of the functions in turn.
			said := strings.Join(texts, "; ")
			if len(groups) > 1 && len(texts) == len(groups) {
				said = texts[i]
			}
			m := functionNames.FindStringSubmatch("`" + strings.TrimPrefix(group, "`"))
			if m == nil {
				t.Fatalf("cannot read the row %s", line)
			}
			for _, name := range strings.Fields(strings.ReplaceAll(m[1], "`", "")) {
				returns := markdownLink.ReplaceAllString(said, "$1")
				lines = append(lines, fmt.Sprintf("%s\t%s\t%s", name, strings.TrimSpace(m[2]), returns))
				told[name] = true
			}
		}
	}
	for _, name := range slices.Concat(sortedKeys(funcs.Table()), template.Specials()) {
		if !told[name] && !strings.HasPrefix(name, "must") {
			t.Errorf("docs/reference.md has no row for the function %s", name)
		}
	}
	slices.Sort(lines)
	want := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("functions.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != functionsText {
		t.Error("functions.txt is not what docs/reference.md says: go test ./author/lsp -run TestFunctions -update")
	}
}
