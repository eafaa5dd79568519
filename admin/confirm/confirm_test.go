package confirm

import (
	"bytes"
	"strings"
	"testing"
)

// TestAskDefaultsToNo: only a complete line with y or yes is a yes.
func TestAskDefaultsToNo(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, " yes \n": true, "YES\r\n": true,
		"": false, "\n": false, "y": false, "n\n": false, "yep\n": false, "no\ny\n": false,
	} {
		var out bytes.Buffer
		if got := Ask(strings.NewReader(answer), &out, "Approve?"); got != want {
			t.Errorf("the answer %q is %v, want %v", answer, got, want)
		}
		if !strings.HasPrefix(out.String(), "Approve? [y/N] ") {
			t.Errorf("the question is %q", out.String())
		}
	}
	if IsTerminal(strings.NewReader(""), &bytes.Buffer{}) {
		t.Error("a buffer counts as a terminal")
	}
}

// TestCommandLine: a shell reads the very words again.
func TestCommandLine(t *testing.T) {
	for want, words := range map[string][]string{
		"jacquard approve webs.example.com":                                 {"jacquard", "approve", "webs.example.com"},
		`jacquard --context 'a'\''b; rm $(c)' ''`:                           {"jacquard", "--context", "a'b; rm $(c)", ""},
		"--stop 0123456789abcdef/Deletes/aB_-1234 --installation home/a@b%": {"--stop", "0123456789abcdef/Deletes/aB_-1234", "--installation", "home/a@b%"},
	} {
		if got := CommandLine(words...); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}

// TestDeletions: every child is named, in order, below its kind.
func TestDeletions(t *testing.T) {
	const want = "deletes 1 Namespace:\n  old\ndeletes 2 Service:\n  shop/a\n  shop/b\n"
	if got := Deletions([]string{"Service shop/b", "Namespace old", "Service shop/a"}); got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
	if got := Deletions(nil); got != "" {
		t.Errorf("without deletions it is %q", got)
	}
}
