package funcs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// These tests hold the functions against the ones that they stand for.

func TestYAMLIsThatOfKubernetes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value().Draw(t, "value")
		if v == nil {
			return
		}
		want, err := yaml.Marshal(v)
		if err != nil || strings.Contains(fmt.Sprint(v), "\u0085") {
			return // it refuses DEL and makes NEL a blank; toYaml keeps both
		}
		got, err := Table()["toYaml"].Call([]any{v}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSuffix(string(want), "\n"), got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestYAMLComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := plain(value().Draw(t, "value"))
		text, err := Table()["toYaml"].Call([]any{v}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		// A text that ends with line breaks needs the one that toYaml leaves out.
		got, err := Table()["fromYaml"].Call([]any{text.(string) + "\n"}, Limits{})
		if err != nil {
			if strings.Contains(err.Error(), "64 bits") {
				return // a float that is written as a large integer
			}
			t.Fatal(err)
		}
		if !areEqual(v, got) {
			t.Error(cmp.Diff(v, got))
		}
	})
}

// plain gives a value without broken text, as a resource has it.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	out, err := fromJSON(DefaultLimits, string(data))
	if err != nil {
		return nil
	}
	return out
}

func TestJSONIsGos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value().Draw(t, "value")
		want, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Table()["toPrettyJson"].Call([]any{v}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Error(diff)
		}
		checkMeter(t, v, 2, len(want))
		line, _ := json.Marshal(v)
		checkMeter(t, v, 0, len(line))
	})
}

// checkMeter checks that the bytes counted beforehand are enough, and not far
// too many.
func checkMeter(t *rapid.T, v any, indent, length int) {
	const lots = 1 << 30
	meter := jsonMeter{left: lots, indent: indent, html: true}
	if err := meter.takeValue(v, 1); err != nil {
		t.Fatal(err)
	}
	if n := lots - meter.left; n < length || n > 2*length+10 {
		t.Errorf("counted %d bytes for %d", n, length)
	}
}

func TestMergeIsMergos(t *testing.T) {
	theirs := sprig.GenericFuncMap()
	for _, name := range []string{"mustMerge", "mustMergeOverwrite"} {
		merge := theirs[name].(func(map[string]any, ...map[string]any) (any, error))
		rapid.Check(t, func(t *rapid.T) {
			dict := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), value(), 0, 3)
			dst, src := dict.Draw(t, "dst"), dict.Draw(t, "src")
			got, err := Table()[name].Call([]any{dst, src}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := merge(copied(dst).(map[string]any), copied(src).(map[string]any))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, sameFloats); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrintIsGos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(value(), 0, 4).Draw(t, "args")
		for i, arg := range args {
			args[i] = plain(arg)
			if args[i] == nil {
				return
			}
		}
		for name, print := range map[string]func(...any) string{"print": fmt.Sprint, "println": fmt.Sprintln} {
			got, err := Table()[name].Call(args, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(print(args...), got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func TestPrintfIsGos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.StringMatching(`([a%]|%[-+# 0]{0,2}(\[[1-3]\])?([0-9]{0,2}|\*)(\.([0-9]?|\*))?(\[[1-3]\])?[vsdqxfgtcU]){0,3}`).Draw(t,
			"format")
		args := make([]any, 3)
		for i := range args {
			args[i] = rapid.SampledFrom([]any{"a", "é\n", int64(5), int64(-3), 2.5, true}).Draw(t, "arg")
		}
		args = args[:rapid.IntRange(0, 3).Draw(t, "count")]
		got, err := Table()["printf"].Call(append([]any{format}, args...), Limits{})
		if err != nil {
			return
		}
		want := fmt.Sprintf(format, args...)
		if got != want && !strings.Contains(want, "%!") {
			t.Errorf("printf %q %v\n got %q\nwant %q", format, args, got, want)
		}
		if strings.Contains(want, "%!") && !strings.Contains(want, "(int64=") && !strings.Contains(want, "(float64=") {
			t.Errorf("printf %q %v = %q; fmt complains: %q", format, args, got, want)
		}
	})
}
