//go:build !operator

package cli

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// TestLSP: the command serves an editor, and previews what jacquard render prints.
func TestLSP(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ended := make(chan int, 1)
	var stderr bytes.Buffer
	go func() { ended <- Main([]string{"lsp", "--root", root}, inRead, outWrite, &stderr) }()
	client := jrpc2.NewClient(channel.LSP(outRead, inWrite), nil)
	call := func(method string, params, result any) {
		t.Helper()
		if err := client.CallResult(context.Background(), method, params, result); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	var server struct{ ServerInfo struct{ Name string } }
	call("initialize", map[string]any{"capabilities": map[string]any{}}, &server)
	if server.ServerInfo.Name != "jacquard" {
		t.Errorf("got %+v", server)
	}
	const name = "apps.app.huolala.cn"
	var got struct{ Text string }
	call("workspace/executeCommand", map[string]any{"command": "jacquard.preview",
		"arguments": []string{"file://" + filepath.ToSlash(root) + "/templates/" + name + "/deployment.yaml"}}, &got)
	var want, trouble bytes.Buffer
	t.Chdir(root)
	if code := Main([]string{"render", "examples/" + name + ".yaml"}, nil, &want, &trouble); code != 0 {
		t.Fatal(trouble.String())
	}
	if got.Text != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got.Text, want.String())
	}
	call("shutdown", nil, new(any))
	if err := client.Notify(context.Background(), "exit", nil); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 || stderr.Len() > 0 {
		t.Errorf("ended with %d: %s", code, stderr.String())
	}
}

// TestLSPRoot: a root that is not there is refused at the start.
func TestLSPRoot(t *testing.T) {
	var stderr strings.Builder
	if code := Main([]string{"lsp", "--root", t.TempDir() + "/none"}, strings.NewReader(""), io.Discard, &stderr); code == 0 {
		t.Error("it is accepted")
	}
	if !strings.Contains(stderr.String(), "reading --root: ") {
		t.Errorf("got %q", stderr.String())
	}
}
