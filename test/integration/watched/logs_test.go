package watched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A log is what operators have logged, and their clients.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var logged log

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// lines are those that speak of a text, after so many bytes.
func (l *log) lines(t *testing.T, after int, about string) (all []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()[after:]) {
		if !strings.Contains(line, about) {
			continue
		}
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
		all = append(all, fields)
	}
	return all
}

// last is how much was logged, and the last line.
func (l *log) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSuffix(l.text.String(), "\n")
	return fmt.Sprintf("%d bytes: %s", len(text), text[strings.LastIndex(text, "\n")+1:])
}

func (l *log) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

// TestLog: lines name kind, namespace, name and file, a folder that does not
// load is an error, and at rest nothing is logged. It runs alone, since it reads what
// all operators log.
func TestLog(t *testing.T) {
	k := newThing(t, "log.example.com", t.TempDir(), configMap)
	cluster.Run(t, install, k.root)
	k.served()
	k.apply("a", "good")
	k.ready("a")
	cluster.AwaitQuiet(t, func() (string, error) { return logged.last(), nil })
	before := logged.length()
	k.apply("a", "bad")
	k.says("a", "Stalled", "not good")
	k.write("{{ .spec.nonsense }}\n")
	for _, want := range []map[string]string{
		{"level": "info", "msg": "status changed", "kind": k.name(), "namespace": k.ns, "name": "a", "reason": "RejectedByTemplate",
			"file": "child.yaml:1:"},
		{"level": "error", "msg": "folder does not load", "kind": k.name(), "error": "child.yaml:1:"},
	} {
		kit.Eventually(t, want["msg"]+" is logged", func() error { return k.logs(before, want) })
	}
}

// TestSourcesHaveNames: what feeds a kind's queue is logged by a name, not by where
// it is in memory.
func TestSourcesHaveNames(t *testing.T) {
	t.Parallel()
	k := newThing(t, "sources.example.com", t.TempDir(), configMap)
	before := logged.length()
	cluster.Run(t, install, k.root)
	k.served()
	k.apply("a", "good")
	k.ready("a")
	lines := logged.lines(t, before, `"source":`)
	if len(lines) == 0 {
		t.Error("no source is logged: this test looks in the wrong place")
	}
	for _, line := range lines {
		if source, _ := line["source"].(string); source == "" || strings.Contains(source, "0x") {
			t.Errorf("%s %v", line["msg"], line["source"])
		}
	}
}

// logs says what is missing in the log since before.
func (k *thing) logs(before int, want map[string]string) error {
	var found []string
	for _, line := range logged.lines(k.T, before, k.group) {
		lacks := ""
		for key, part := range want {
			if text, _ := line[key].(string); !strings.Contains(text, part) {
				lacks = key
			}
		}
		if lacks == "" {
			return nil
		}
		found = append(found, line["msg"].(string)+" lacks "+lacks)
	}
	return errors.New(strings.Join(found, "; "))
}
