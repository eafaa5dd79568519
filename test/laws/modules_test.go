package laws

import (
	"regexp"
	"testing"
)

// required is a module and its version in a go.mod.
var required = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)(?: // indirect)?$`)

// sharing are the modules beside the operator's that are built for the tests and
// the demo and compile much of what it does. golangci-lint and containerd share
// little with it.
var sharing = []string{"devcluster", "bench", "charts", "test/e2e", "test/e2e/gitops", "test/helmcompat", "test/pipeline", "test/browser", "tools/helm"}

// TestOneVersion: a module is required in the same version everywhere, so that it
// is compiled once, and the tests run with what users run.
func TestOneVersion(t *testing.T) {
	ours := map[string]string{}
	for _, m := range required.FindAllStringSubmatch(string(read(t, "go.mod")), -1) {
		ours[m[1]] = m[2]
	}
	for _, dir := range sharing {
		common := 0
		for _, m := range required.FindAllStringSubmatch(string(read(t, dir+"/go.mod")), -1) {
			want, is := ours[m[1]]
			if is {
				common++
			}
			if is && m[2] != want {
				t.Errorf("%s/go.mod has %s %s, and go.mod has %s: (cd %s && go get %s@%s && go mod tidy)", dir, m[1], m[2], want, dir, m[1], want)
			}
		}
		if common == 0 {
			t.Errorf("%s/go.mod has no module that go.mod has: this test looks in the wrong place", dir)
		}
	}
}
