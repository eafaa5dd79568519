package funcs

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/functions.golden")

func TestGolden(t *testing.T) {
	var got strings.Builder
	got.WriteString("# Functions that templates may call, with the number of their arguments.\n")
	for _, name := range slices.Sorted(maps.Keys(Table())) {
		f := Table()[name]
		fmt.Fprintf(&got, "%s %s\n", name, arity(f))
	}
	got.WriteString("\n# Refused functions, with the reason.\n")
	for _, name := range slices.Sorted(maps.Keys(Refused())) {
		fmt.Fprintf(&got, "%s: %s\n", name, Refused()[name])
	}
	const file = "testdata/functions.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", file, diff)
	}
}

func arity(f *Func) string {
	switch {
	case f.Max < 0:
		return fmt.Sprintf("%d…", f.Min)
	case f.Min == f.Max:
		return fmt.Sprint(f.Min)
	}
	return fmt.Sprintf("%d–%d", f.Min, f.Max)
}

// special are the names that are no pure functions: the interpreter has them.
var special = []string{
	"and", "or", "include", "required", "fail", "hasAPI", "child", "children", "wait",
	"lookup", "select", "await", "rendered", "config", "file", "stable",
}

// builtins are text/template's; the package does not list them.
var builtins = []string{
	"and", "call", "html", "index", "slice", "js", "len", "not", "or",
	"print", "printf", "println", "urlquery", "eq", "ge", "gt", "le", "lt", "ne",
}

var helm = []string{
	"toToml", "mustToToml", "fromToml", "toYaml", "mustToYaml", "toYamlPretty",
	"fromYaml", "fromYamlArray", "toJson", "mustToJson", "fromJson", "fromJsonArray",
	"include", "tpl", "required", "lookup", "fail",
}

func TestEveryNameIsDecided(t *testing.T) {
	for _, name := range builtins {
		if _, err := template.New("").Parse("{{" + name + "}}"); err != nil {
			t.Errorf("%s is no builtin of text/template: %v", name, err)
		}
	}
	names := slices.Concat(builtins, helm, slices.Collect(maps.Keys(sprig.FuncMap())))
	for _, name := range names {
		_, refused := Refused()[name]
		places := 0
		for _, in := range []bool{Table()[name] != nil, refused, slices.Contains(special, name)} {
			if in {
				places++
			}
		}
		if places != 1 {
			t.Errorf("%s: in %d of Table, Refused and the interpreter's names, want 1", name, places)
		}
	}
}

func TestRefusedSayWhatInstead(t *testing.T) {
	use, words := regexp.MustCompile(`\buse (\w+)`), []string{"the"}
	for name, reason := range Refused() {
		for _, m := range use.FindAllStringSubmatch(reason, -1) {
			if Table()[m[1]] == nil && !slices.Contains(special, m[1]) && !slices.Contains(words, m[1]) {
				t.Errorf("%s: the reason %q sends to a function that there is not", name, reason)
			}
		}
		if len(reason) < 20 || !strings.Contains(reason, ";") && !strings.Contains(reason, ",") {
			t.Errorf("%s: the reason %q does not say what to do instead", name, reason)
		}
	}
}
