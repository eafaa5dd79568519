package laws

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const tutorial = "docs/tutorial.md"

// A step is a command of the tutorial and what it says is printed.
type step struct {
	line    int
	command string
	prints  []string
}

// console matches a block in which somebody types commands.
var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// steps reads the blocks that show a console: lines that begin with "$ "
// are typed, as are those that go on with a here-document; the others are
// printed.
func steps(t *testing.T) []step {
	t.Helper()
	text := string(read(t, tutorial))
	var all []step
	for _, at := range console.FindAllStringSubmatchIndex(text, -1) {
		line := 1 + strings.Count(text[:at[2]], "\n")
		until := "" // the end of the here-document
		for part := range strings.Lines(text[at[2]:at[3]]) {
			part = strings.TrimSuffix(part, "\n")
			command, isCommand := strings.CutPrefix(part, "$ ")
			switch {
			case until != "":
				last := &all[len(all)-1]
				last.command += "\n" + part
				if part == until {
					until = ""
				}
			case isCommand:
				all = append(all, step{line: line, command: command})
				if _, end, here := strings.Cut(command, "<<'"); here {
					until, _, _ = strings.Cut(end, "'")
				}
			case len(all) == 0:
				t.Fatalf("%s:%d: a console begins with a command", tutorial, line)
			default:
				last := &all[len(all)-1]
				last.prints = append(last.prints, part)
			}
			line++
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s holds no commands: this test looks in the wrong place", tutorial)
	}
	return all
}

// TestTutorial types every command of the tutorial, in order, into one shell,
// which starts in a fresh copy of nothing but this repository and in a HOME
// with nothing in it. What a command prints is what the tutorial says, where …
// stands for any text, and for any lines where it stands alone. Commands
// succeed, unless the next one shows $?.
func TestTutorial(t *testing.T) {
	commands := steps(t)
	if testing.Short() {
		t.Skip("-short: it starts a cluster")
	}
	s := startShell(t)
	for i, c := range commands {
		printed, code := s.run(t, c.command)
		t.Logf("$ %s\n%s", c.command, printed)
		asked := i+1 < len(commands) && commands[i+1].command == "echo $?"
		if code != 0 && !asked {
			t.Fatalf("%s:%d: %s: exit %d:\n%s\n%s", tutorial, c.line, c.command, code, printed, s.background())
		}
		if !matches(c.prints, printed) {
			t.Fatalf("%s:%d: %s prints otherwise:\n%s", tutorial, c.line, c.command, printed)
		}
	}
}

// matches compares what is printed with what the document shows. A command that
// is shown without output may print anything.
func matches(shown []string, printed string) bool {
	if len(shown) == 0 {
		return true
	}
	var pattern strings.Builder
	for _, line := range shown {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString("(?:.*\n)*?")
			continue
		}
		for i, part := range strings.Split(strings.TrimRight(line, " "), "…") {
			if i > 0 {
				pattern.WriteString(".*")
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(" *\n")
	}
	return regexp.MustCompile("^" + pattern.String() + "$").MatchString(logLine.ReplaceAllString(printed, ""))
}

// logLine matches what kubectl logs beside its output, such as that a watch has ended, which may
// come while it exits.
var logLine = regexp.MustCompile(`(?m)^[IWE]\d{4} \d\d:.*\n`)

// A shell is one shell that a person types into.
type shell struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	behind string // the file that commands in the background write to
}

// startShell starts a shell as somebody has it who cloned the repository: in
// the clone, with an empty HOME. What the caches of Go hold it may use.
func startShell(t *testing.T) *shell {
	t.Helper()
	home := t.TempDir()
	s := &shell{cmd: exec.Command("bash", "--norc"), behind: filepath.Join(home, "background.log")}
	s.cmd.Env = append(os.Environ(), "HOME="+home, "KUBECONFIG=", "NO_COLOR=1", "GOCACHE="+goEnv(t, "GOCACHE"),
		"GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The tutorial leaves nothing running; one that was cut short may.
	t.Cleanup(s.end)
	return s
}

func (s *shell) end() {
	s.in.Close()
	syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
	s.cmd.Wait()                                      //nolint:errcheck // it is ended on purpose
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

const endOfCommand = "--- the command ended with "

// run types a command and returns what it prints and its exit code. One in the
// background writes into a file.
func (s *shell) run(t *testing.T, command string) (printed string, code int) {
	t.Helper()
	if foreground, background := strings.CutSuffix(command, " &"); background {
		command = fmt.Sprintf("%s >>%s 2>&1 </dev/null &", foreground, s.behind)
	}
	// Not a subshell: cd and export last.
	if _, err := fmt.Fprintf(s.in, "{\n%s\n} 2>&1; code=$?; echo; echo '%s'$code; (exit $code)\n", command, endOfCommand); err != nil {
		t.Fatal(err)
	}
	patience := time.AfterFunc(10*time.Minute, s.end)
	defer patience.Stop()
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: the shell ended: %v\n%s", command, err, printed)
		}
		if rest, end := strings.CutPrefix(line, endOfCommand); end {
			code, err = strconv.Atoi(strings.TrimSpace(rest))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimRight(printed, "\n") + "\n", code
		}
		printed += line
	}
}

// background is what the commands in the background printed.
func (s *shell) background() string {
	text, err := os.ReadFile(s.behind)
	if err != nil {
		return ""
	}
	return "in the background:\n" + string(text)
}
