package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestShow: of a real `go test -json`, what fails and the packages are shown,
// and what was skipped is told with its reason.
func TestShow(t *testing.T) {
	cmd := exec.Command("go", "test", "-json", "-tags", "sample", "./testdata")
	events, _ := cmd.Output() // one test fails
	for _, everything := range []bool{false, true} {
		var out bytes.Buffer
		skipped, err := showEvents(&out, bytes.NewReader(events), everything)
		if err != nil {
			t.Fatal(err)
		}
		if len(skipped) != 2 || !strings.HasSuffix(skipped[0], "testdata TestSkipped: sample_test.go:10: this machine lacks something") ||
			!strings.HasSuffix(skipped[1], "testdata TestParent/Child: sample_test.go:15: the child is absent") {
			t.Errorf("skipped: got %q", skipped)
		}
		for text, want := range map[string]bool{
			"sample_test.go:18: it is wrong\n": true, "--- FAIL: TestWrong": true, "FAIL\t": true,
			"it is right": everything, "--- SKIP: TestSkipped": everything,
		} {
			if strings.Contains(out.String(), text) != want {
				t.Errorf("everything %t: shows %q: %t, want %t:\n%s", everything, text, !want, want, out.String())
			}
		}
	}
}
