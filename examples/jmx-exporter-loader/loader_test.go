// Package loader_test builds the loader and its agent with the machine's JDK
// and tries them on real JVMs.
package loader_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The exit codes of the loader.
const (
	served       = 0
	badSettings  = 2
	noJVM        = 3
	severalJVMs  = 4
	notPermitted = 5
	portTaken    = 6
	noAnswer     = 7
	agentFailed  = 8
)

// everything makes the agent show all MBeans.
const everything = "lowercaseOutputName: false\n"

// target is a program that does nothing, and has an MBean.
const target = `
import java.lang.management.ManagementFactory;
import javax.management.ObjectName;
import javax.management.StandardMBean;

public class Target {
    public interface Shown {
        default int getAnswer() { return 42; }
        default boolean isRight() { return true; }
        default String getText() { return "text"; }
    }

    public static void main(String[] args) throws Exception {
        ManagementFactory.getPlatformMBeanServer().registerMBean(new StandardMBean(new Shown() {}, Shown.class),
            new ObjectName("test:type=Target,name=\"a,b\""));
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
`

// build compiles the jars and the target into a folder that any user can read.
func build(t *testing.T) string {
	t.Helper()
	for _, need := range []string{"java", "javac", "jar"} {
		if _, err := exec.LookPath(need); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("there is no JDK: install default-jdk-headless")
			}
			t.Skip("there is no JDK: install default-jdk-headless")
		}
	}
	dir, err := os.MkdirTemp("", "jmx-exporter-loader")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	succeed(t, exec.Command("make", "OUT="+dir))
	source := filepath.Join(dir, "Target.java")
	if err := os.WriteFile(source, []byte(target), 0o644); err != nil {
		t.Fatal(err)
	}
	succeed(t, exec.Command("javac", "-encoding", "UTF-8", "-d", dir, source))
	succeed(t, exec.Command("chmod", "-R", "a+rX", dir)) // whatever the umask was
	return dir
}

func succeed(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// A jvm is a running target. Its log may be read once it has ended.
type jvm struct {
	cmd *exec.Cmd
	log bytes.Buffer
}

func (j *jvm) pid() int { return j.cmd.Process.Pid }

// stop ends the JVM and returns its log.
func (j *jvm) stop() string {
	_ = j.cmd.Process.Kill()
	_ = j.cmd.Wait()
	return j.log.String()
}

// start runs a command that becomes a target's JVM, and waits until it runs.
func start(t *testing.T, command ...string) *jvm {
	t.Helper()
	j := &jvm{cmd: exec.Command(command[0], command[1:]...)}
	j.cmd.Dir = "/"
	j.cmd.Stderr = &j.log
	out, err := j.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.stop() })
	ready := make([]byte, len("ready"))
	if _, err := io.ReadFull(out, ready); err != nil {
		t.Fatalf("%v did not start: %v\n%s", command, err, j.stop())
	}
	return j
}

// proc is a folder that stands for /proc with just these processes in it: the
// machine may run other JVMs.
func proc(t *testing.T, jvms ...*jvm) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, j := range jvms {
		if err := os.Symlink(fmt.Sprint("/proc/", j.pid()), filepath.Join(dir, strconv.Itoa(j.pid()))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A run is one run of the loader.
type run struct {
	dir, proc string
	as        []string // a command that runs the loader as somebody
	port      string
	config    string
}

// wants runs the loader and compares its exit code and what it says.
func (r run) wants(t *testing.T, code int, says string) {
	t.Helper()
	args := append(r.as, "java", "-Dloader.proc="+r.proc, "-jar", filepath.Join(r.dir, "loader.jar"))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "JMX_EXPORTER_HOST=127.0.0.1", "JMX_EXPORTER_PORT="+r.port, "JMX_EXPORTER_CONFIG="+r.config,
		"JMX_EXPORTER_OWNER=example", "JMX_EXPORTER_WAIT=2")
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), says) {
		t.Fatalf("the loader ended with %d, %d was wanted, and said %q, which should hold %q", got, code, out, says)
	}
}

// freePort is a port that nothing listens on. What a loader leaves for it is
// removed in the end.
func freePort(t *testing.T) string {
	t.Helper()
	listener := listen(t)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	t.Cleanup(func() {
		left, _ := filepath.Glob(leftovers(port))
		for _, dir := range left {
			_ = os.RemoveAll(dir)
		}
	})
	return port
}

// leftovers matches what a loader leaves in the JVM's /tmp.
func leftovers(port string) string { return "/tmp/jmx-exporter-" + port + "-*" }

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// scrape gets the metrics.
func scrape(t *testing.T, port string) string {
	t.Helper()
	client := &http.Client{Timeout: time.Minute}
	answer, err := client.Get("http://127.0.0.1:" + port + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("the metrics are a %s of type %q", answer.Status, got)
	}
	return string(body)
}

func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in:\n%s", part, text)
		}
	}
}
