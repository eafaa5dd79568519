package laws

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

const reliability = "docs/reliability.md"

// TestTestsAreDocumented: every test that docs/reliability.md names is there, in
// the package that it names, and every row names one or says that there is none.
func TestTestsAreDocumented(t *testing.T) {
	there := map[string]bool{}
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test() && fn.Recv == nil {
				there[path.Dir(f.path)+" "+fn.Name.Name] = true
			}
		}
	}
	named := regexp.MustCompile("`([a-z0-9/]+ (?:Test|Fuzz)[A-Za-z0-9]+)`")
	rows := 0
	for line := range strings.Lines(string(read(t, reliability))) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasSuffix(cells[len(cells)-1], " tested by ") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(tests) == 0 && !strings.Contains(cells[2], "**not yet**") {
			t.Errorf("%s: names no test and does not say that there is none: %s", reliability, line)
		}
		for _, m := range tests {
			if !there[m[1]] {
				t.Errorf("%s: there is no %s", reliability, m[1])
			}
		}
	}
	if rows < 50 {
		t.Errorf("%s has %d rows: this test no longer understands it", reliability, rows)
	}
}
