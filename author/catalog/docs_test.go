package catalog

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedReady: the object that docs/reference.md calls ready is, and
// needs every field of its status.
func TestDocumentedReady(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## Golden cases\n")
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(part)
	if block == nil {
		t.Fatal("docs/reference.md has no example below ## Golden cases")
	}
	waits := func(object string) string {
		return awaits(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: hello}\n",
			strings.Replace(object, "jacquard.dev/file: server", "jacquard.dev/file: thing", 1))
	}
	if why := waits(block[1]); why != "" {
		t.Errorf("it is not ready: %s\n%s", why, block[1])
	}
	for _, field := range []string{"updatedReplicas: 1", "readyReplicas: 1", "availableReplicas: 1",
		`conditions: [{type: Available, status: "True"}]`} {
		if less := strings.Replace(block[1], "  "+field+"\n", "", 1); less == block[1] || waits(less) == "" {
			t.Errorf("it is ready without %s", field)
		}
	}
}
