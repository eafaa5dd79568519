// Command tested is `go test` that keeps in mind which tests were skipped, and
// why: it adds them to the file that SKIPPED names. `.ci/run` tests with it.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	skipped, err := runTests(os.Args[1:])
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := appendLines(os.Getenv("SKIPPED"), skipped); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if exit != nil {
		os.Exit(exit.ExitCode())
	}
}

// runTests runs `go test`, shows what it would show, and returns the tests that were skipped, with
// the reason.
func runTests(args []string) ([]string, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	skipped, err := showEvents(os.Stdout, out, slices.Contains(args, "-v"))
	return skipped, errors.Join(err, cmd.Wait())
}

// An event is a line of `go test -json`: see `go doc test2json`.
type event struct{ Action, Package, Test, Output string }

// showEvents writes the output in the events: all of it if everything is wanted, and otherwise that
// of packages and of tests that fail.
func showEvents(to io.Writer, from io.Reader, everything bool) (skipped []string, err error) {
	output := map[string][]string{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(to, lines.Text())
			continue
		}
		name := e.Package + " " + e.Test
		if everything || e.Test == "" && e.Output != "PASS\n" {
			fmt.Fprint(to, e.Output)
		}
		switch {
		case e.Test == "":
		case e.Output != "":
			output[name] = append(output[name], e.Output)
		case e.Action == "skip":
			skipped = append(skipped, name+": "+skipReason(output[name]))
			delete(output, name)
		case e.Action == "fail" && !everything:
			fmt.Fprint(to, strings.Join(output[name], ""))
			delete(output, name)
		case e.Action == "pass":
			delete(output, name)
		}
	}
	return skipped, lines.Err()
}

// skipReason returns the output of a test but for what `go test` itself prints about it.
func skipReason(lines []string) string {
	var own []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			own = append(own, line)
		}
	}
	return strings.Join(own, " ")
}

// appendLines adds lines to a file.
func appendLines(name string, lines []string) error {
	if name == "" || len(lines) == 0 {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, strings.Join(lines, "\n"))
	return errors.Join(err, file.Close())
}
