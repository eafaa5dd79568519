//go:build !operator

package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUIPrints: jacquard ui prints the address alone, for scripts, and beside it what a
// person does with it.
func TestUIPrints(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	err := os.WriteFile(config, []byte(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	var said bytes.Buffer
	cmd := newUI()
	cmd.SetArgs([]string{"--kubeconfig", config})
	cmd.SetOut(in)
	cmd.SetErr(&said)
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.ExecuteContext(ctx)
		_ = in.Close() // never fails
	}()
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	more, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(address, "http://127.0.0.1:") || !strings.Contains(address, "/#") || len(more) > 0 {
		t.Errorf("it prints %q and %q", address, more)
	}
	for _, part := range []string{"in a browser", "once", "Ctrl-C"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("it does not say %q: %s", part, said.String())
		}
	}
}
