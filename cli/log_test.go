package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogLevels: each level logs what it says, as one line of JSON.
func TestLogLevels(t *testing.T) {
	for level, want := range map[string]string{
		"error": "failed", "info": "failed told", "debug": "failed told more", "1": "failed told more", "2": "failed told more most",
	} {
		var out bytes.Buffer
		l, err := newLogger(&out, level)
		if err != nil {
			t.Fatal(err)
		}
		l.Error(errors.New("why"), "failed")
		l.Info("told")
		l.V(1).Info("more")
		l.V(2).Info("most")
		var got []string
		for line := range strings.Lines(out.String()) {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["stacktrace"] != nil {
				t.Errorf("%s logs %s: %v", level, line, err)
			}
			got = append(got, fields["msg"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s logs %q, want %q", level, got, want)
		}
	}
}

// TestNoLogLevel: what is no level, or one at which Secrets are logged, is refused
// as usage, before anything starts.
func TestNoLogLevel(t *testing.T) {
	for _, level := range []string{"loud", "8", "99"} {
		var trouble bytes.Buffer
		code := Main([]string{"run", "--log-level", level, "--kubeconfig", "/nowhere"}, strings.NewReader(""), &bytes.Buffer{}, &trouble)
		if code != exitUsage || !strings.Contains(trouble.String(), `--log-level "`+level+`": it must be error, info, debug`) {
			t.Errorf("%s: it exits with %d: %s", level, code, trouble.String())
		}
	}
}

// TestLogEndsInJSON: that the operator cannot start is a line of its log like all others.
func TestLogEndsInJSON(t *testing.T) {
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, []byte(`{clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var trouble bytes.Buffer
	code := Main([]string{"run", "--kubeconfig", config, "--metrics-bind-address", "127.0.0.1:0", "--metrics-cert-path", "/nowhere"},
		strings.NewReader(""), &bytes.Buffer{}, &trouble)
	if code != exitFailed || !strings.Contains(trouble.String(), "reading the certificate of the metrics") {
		t.Errorf("it exits with %d: %s", code, trouble.String())
	}
	for line := range strings.Lines(trouble.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is no JSON: %s", line)
		}
	}
}
