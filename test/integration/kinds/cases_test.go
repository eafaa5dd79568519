package kinds

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
)

// testCases runs golden cases of all kinds of these roots on the cluster, as jacquard test
// --live does: of the patterns all, and of the others some of each.
func testCases(t *testing.T, roots []string) {
	args := []string{"test", "--live", "--install-crds", "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"), "--timeout", "2m",
		"--run", "patterns|/(available|changed|example|labelled|no-theme|one|route-waits|running|waits-for-its-secret)$"}
	for _, r := range roots {
		args = append(args, "--root", r)
	}
	var out strings.Builder
	if code := cli.Main(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, passed := range []string{
		"apps.app.huolala.cn/example", "bluegreenapps.patterns.example.com/hand-over/5", "caches.patterns.example.com/kept",
		"foos.samplecontroller.k8s.io/running", "genericdaemons.mydomain.com/labelled", "guardedapps.patterns.example.com/rolled-back",
		"memcacheds.cache.example.com/available", "podroutes.quay.io/route-waits", "prometheusjmxexporters.banzaicloud.com/changed",
		"targetlists.patterns.example.com/three-services", "webapps.platform.example.com/waits-for-its-secret", "websites.hosting.example.com/no-theme",
	} {
		if !strings.Contains(out.String(), "ok   "+passed+"\n") {
			t.Errorf("%s did not pass", passed)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
