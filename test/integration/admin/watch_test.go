package admin

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// commandLine is the variable that makes the test's binary jacquard itself.
const commandLine = "JACQUARD_COMMAND_LINE"

// A watcher is a command that runs until it is interrupted.
type watcher struct {
	*site
	command *exec.Cmd
	mu      sync.Mutex
	out     bytes.Buffer
}

// watch starts a command as a user, in a process of its own.
func (s *site) watch(user string, args ...string) *watcher {
	s.Helper()
	w := &watcher{site: s}
	w.command = exec.Command(os.Args[0], append(args, "--kubeconfig", filepath.Join(cluster.Dir, user+".kubeconfig"))...)
	w.command.Env = append(os.Environ(), commandLine+"=yes")
	w.command.Stdout, w.command.Stderr = w, w
	if err := w.command.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.command.Process.Kill() }) //nolint:errcheck // it has ended, as a rule
	return w
}

// Write takes up what the command prints.
func (w *watcher) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(text)
}

// text is what was printed so far.
func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// shows waits until a text was printed.
func (w *watcher) shows(part string) {
	w.Helper()
	kit.Eventually(w, "it shows "+part, func() error {
		if text := w.text(); !strings.Contains(text, part) {
			return errors.New(text)
		}
		return nil
	})
}

// interrupt interrupts the command and returns how it ends.
func (w *watcher) interrupt() error {
	w.Helper()
	if err := w.command.Process.Signal(syscall.SIGINT); err != nil {
		w.Fatal(err)
	}
	return w.command.Wait()
}
