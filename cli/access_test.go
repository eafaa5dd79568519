package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// TestNoKubeconfig: who has no kubeconfig is told where one is looked for.
func TestNoKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	before := clientcmd.RecommendedHomeFile
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
	clientcmd.RecommendedHomeFile = filepath.Join(t.TempDir(), "config")
	_, err := (&access{}).config()
	if err == nil {
		t.Fatal("there is a cluster")
	}
	for _, part := range []string{"no kubeconfig", "--kubeconfig", "KUBECONFIG", clientcmd.RecommendedHomeFile} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %s", err, part)
		}
	}
	if strings.Contains(err.Error(), "KUBERNETES_MASTER") {
		t.Errorf("%q names what nothing reads", err)
	}
}
