package kinds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestCasesOfShipped runs golden cases of all kinds that ship, of the patterns and of
// examples/kinds on the cluster, as jacquard test --live does: of the patterns all, and
// of the others some of each.
func TestCasesOfShipped(t *testing.T) {
	installRoutes(t)
	roots := []string{root(t), filepath.Join(root(t), "examples", "patterns")}
	more, err := filepath.Glob(filepath.Join(root(t), "examples", "kinds", "*"))
	if err != nil || len(more) == 0 {
		t.Fatalf("there are no examples of kinds: %v", err)
	}
	roots = append(roots, more...)
	theme, err := os.ReadFile(filepath.Join(root(t), "examples", "kinds", "webhosting", "schemas", "themes.hosting.example.com.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cluster.Apply(t, "", string(theme))
	t.Cleanup(func() { unclaim(t, more) })
	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs = true }, roots...)
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

// unclaim takes the operator's claim off the kinds of roots, which other tests serve too. It
// runs once the operator has stopped.
func unclaim(t *testing.T, roots []string) {
	for _, dir := range roots {
		files, err := filepath.Glob(filepath.Join(dir, "crds", "*.yaml"))
		if err != nil {
			t.Error(err)
		}
		for _, file := range files {
			crd := kit.Parse(t, text(t, file))[0]
			patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: null}}}`, api.AnnotationOperator)
			if err := cluster.Client.Patch(context.Background(), crd, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				t.Error(err)
			}
		}
	}
}
