package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a state may take to come: far longer than it does.
const patience = 4 * time.Minute

// A who is whose kubeconfig is used: the file's name without its suffix, or ""
// for the admin.
type who string

const (
	admin  who = ""
	editor who = "editor"
)

// try runs a program against the cluster and returns what it prints.
func (n *realNode) try(as who, stdin, program string, args ...string) (string, error) {
	file := "kubeconfig"
	if as != admin {
		file = string(as) + ".kubeconfig"
	}
	cmd := exec.Command(bin(program), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(n.dir, file))
	cmd.Stdin = strings.NewReader(stdin)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running %s %s: %w\n%s%s", program, strings.Join(args, " "), err, out.String(), trouble.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func (n *realNode) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := n.try(admin, "", "kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// apply applies a manifest by the server: kubectl itself asks for nothing, such
// as whether the namespace is there.
func (n *realNode) apply(t *testing.T, as who, manifest string) {
	t.Helper()
	if _, err := n.try(as, manifest, "kubectl", "apply", "--server-side", "-f", "-"); err != nil {
		t.Fatalf("%v\n%s", err, manifest)
	}
}

// helm runs a program of Helm: helm, which is Helm 4, or helm3.
func (n *realNode) helm(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := n.try(admin, "", program, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, n.tried(admin, "kubectl", "get", "pods,events", "--all-namespaces"))
	}
	return out
}

// tried is what a program prints, or its error: for telling of a failure.
func (n *realNode) tried(as who, program string, args ...string) string {
	out, err := n.try(as, "", program, args...)
	if err != nil {
		return err.Error()
	}
	return out
}

// get reads an object, or a list of objects, into a value.
func (n *realNode) get(into any, args ...string) error {
	out, err := n.try(admin, "", "kubectl", append(append([]string{"get"}, args...), "-o", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(out), into)
}

// eventually asks until nothing is wrong any more.
func eventually(t *testing.T, what string, wrong func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if err = wrong(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not after %s: %v", what, patience, err)
}

// fetch gets a page, once it is there.
func fetch(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	var text string
	eventually(t, url+" answers", func() error {
		answer, err := client.Get(url)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", answer.Status, body)
		}
		text = string(body)
		return nil
	})
	return text
}
