package loader_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLoader loads the agent into JVMs, and finds out what is wrong where it
// cannot.
func TestLoader(t *testing.T) {
	dir := build(t)
	for name, test := range map[string]func(*testing.T, string){
		"Serves": serves, "Configured": configured, "BadConfig": badConfig, "BadSettings": settings, "NoJVM": none,
		"SeveralJVMs": several, "PortTaken": taken, "Deaf": deaf, "OwnFiles": ownFiles, "OtherUser": otherUser,
	} {
		t.Run(name, func(t *testing.T) { test(t, dir) })
	}
}

// serves: metrics come out, and a second loader changes nothing.
func serves(t *testing.T, dir string) {
	j := start(t, "java", "-cp", dir, "Target")
	r := run{dir: dir, proc: proc(t, j), port: freePort(t), config: everything}
	r.wants(t, served, "serves metrics now")
	text := scrape(t, r.port)
	holds(t, text, "# TYPE jvm_memory_used_bytes gauge\njvm_memory_used_bytes{area=\"heap\"} ", "\njvm_threads_current ",
		"\n# TYPE jvm_gc_collection_seconds summary\njvm_gc_collection_seconds_count{gc=\"", "\njvm_classes_currently_loaded ",
		"\njvm_uptime_seconds ", "\ntest_Target_Answer{name=\"a,b\"} 42.0\n", "\ntest_Target_Right{name=\"a,b\"} 1.0\n",
		"\njava_lang_Memory_HeapMemoryUsage_used ")
	if strings.Contains(text, "Target_Text") {
		t.Error("a text is no metric")
	}
	r.wants(t, served, "serves metrics already")
	second := r
	second.port = freePort(t)
	second.wants(t, served, "serves metrics now")
	holds(t, scrape(t, r.port), "jvm_uptime_seconds ")
	holds(t, scrape(t, second.port), "jvm_uptime_seconds ")
}

// configured: the text of the configuration reaches the agent.
func configured(t *testing.T, dir string) {
	j := start(t, "java", "-cp", dir, "Target")
	r := run{dir: dir, proc: proc(t, j), port: freePort(t), config: `---
# What the agent knows, and what it does not.
lowercaseOutputName: true
startDelaySeconds: 0
whitelistObjectNames: ["test:*", 'java.lang:type=Memory']
blacklistObjectNames:
  - java.lang:type=Memory
rules:
- pattern: 'test<type=Target, name="a,b"><>Answer: 42'
  name: answer
`}
	r.wants(t, served, "serves metrics now")
	text := scrape(t, r.port)
	holds(t, text, "\ntest_target_answer{name=\"a,b\"} 42.0\n", "\njvm_threads_current ")
	for _, no := range []string{"java_lang", "right"} {
		if strings.Contains(text, no) {
			t.Errorf("the metrics hold %q although the configuration leaves it out", no)
		}
	}
	log := j.stop()
	holds(t, log, "passing over startDelaySeconds of", "passing over rules.name of")
	if strings.Contains(log, "passing over rules of") {
		t.Errorf("rules are known:\n%s", log)
	}
}

// badConfig: the agent fails, nothing is left behind, and the JVM runs on.
func badConfig(t *testing.T, dir string) {
	j := start(t, "java", "-cp", dir, "Target")
	r := run{dir: dir, proc: proc(t, j), port: freePort(t), config: "includeObjectNames:\n- nonsense\n"}
	r.wants(t, agentFailed, "did not load the agent")
	if left, _ := filepath.Glob(leftovers(r.port)); len(left) > 0 {
		t.Errorf("a loader that failed left %v", left)
	}
	r.config = everything
	r.wants(t, served, "serves metrics now")
	holds(t, j.stop(), "the configuration names MBeans by nonsense")
}

func settings(t *testing.T, dir string) {
	for _, port := range []string{"", "0", "65536", "9400x", "-1", "99999999999"} {
		run{dir: dir, proc: proc(t), port: port, config: everything}.wants(t, badSettings,
			"JMX_EXPORTER_PORT must be a whole number from 1 to 65535")
	}
}

func none(t *testing.T, dir string) {
	sleeper := &jvm{cmd: exec.Command("sleep", "600")}
	if err := sleeper.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sleeper.stop() })
	run{dir: dir, proc: proc(t, sleeper), port: "9400", config: everything}.wants(t, noJVM, "no JVM found")
}

func several(t *testing.T, dir string) {
	a, b := start(t, "java", "-cp", dir, "Target"), start(t, "java", "-cp", dir, "Target")
	run{dir: dir, proc: proc(t, a, b), port: freePort(t), config: everything}.wants(t, severalJVMs, "several JVMs found")
}

// taken: what listens on the port is something else, which serves metrics or
// does not.
func taken(t *testing.T, dir string) {
	j := start(t, "java", "-cp", dir, "Target")
	for path, says := range map[string]string{"/metrics": "in use by something else", "/other": "in use by something that serves no metrics"} {
		listener := listen(t)
		mux := http.NewServeMux()
		mux.HandleFunc("GET "+path, func(http.ResponseWriter, *http.Request) {})
		server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
		port := listener.Addr().String()[len("127.0.0.1:"):]
		run{dir: dir, proc: proc(t, j), port: port, config: everything}.wants(t, portTaken, says)
	}
}

// deaf: JVMs that take no requests are told of, and not killed by asking.
func deaf(t *testing.T, dir string) {
	for option, says := range map[string]string{"-Xrs": "does not listen to SIGQUIT", "-XX:+DisableAttachMechanism": "does not answer"} {
		j := start(t, "java", option, "-cp", dir, "Target")
		run{dir: dir, proc: proc(t, j), port: freePort(t), config: everything}.wants(t, noAnswer, says)
		// A process that has ended has no command line left.
		if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", j.pid())); err != nil || len(command) == 0 {
			t.Errorf("the JVM with %s ended: %v", option, err)
		}
	}
}

// ownFiles: the JVM has a /tmp of its own, as in another container.
func ownFiles(t *testing.T, dir string) {
	inside := []string{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /mnt && mount -t tmpfs tmpfs /tmp && exec "$@"`, dir}
	if out, err := exec.Command(inside[0], append(inside[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("mounting needs root: %v: %s", err, out)
	}
	j := start(t, append(inside, "java", "-cp", "/mnt", "Target")...)
	r := run{dir: dir, proc: proc(t, j), port: freePort(t), config: everything}
	r.wants(t, served, "serves metrics now")
	holds(t, scrape(t, r.port), "test_Target_Answer")
}

// otherUser: root becomes the JVM's user, and nobody else can.
func otherUser(t *testing.T, dir string) {
	if _, err := exec.LookPath("setpriv"); err != nil || os.Getuid() != 0 {
		t.Skip("becoming somebody else needs root and setpriv")
	}
	as := func(id string) []string { return []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups"} }
	j := start(t, append(as("65534"), "java", "-cp", dir, "Target")...)
	r := run{dir: dir, proc: proc(t, j), port: freePort(t), config: everything, as: as("65533")}
	r.wants(t, notPermitted, "runs as uid:gid 65534:65534 and the loader as 65533:65533")
	r.as = nil
	r.wants(t, served, "serves metrics now")
	r.as = as("65534")
	r.wants(t, served, "serves metrics already")
}
