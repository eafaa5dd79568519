package watched

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A prometheus is a real one that scrapes an operator and evaluates the alerts
// of the chart, as they are but for how long what they warn of must last.
type prometheus struct {
	at string
	// names are the alerts of the chart.
	names []string

	mu    sync.Mutex
	fired map[string]bool
}

// A ruleFile is a file of Prometheus' rules.
type ruleFile struct {
	Groups []struct {
		Name  string           `json:"name"`
		Rules []map[string]any `json:"rules"`
	} `json:"groups"`
}

// often is how often Prometheus scrapes and evaluates.
const often = "250ms"

// startPrometheus starts one that scrapes the operator at an address with a
// token; it ends with the test.
func startPrometheus(t *testing.T, scrapes, token string) *prometheus {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("there is no prometheus: .ci/run installs Debian's")
	default:
		t.Skip("there is no prometheus: install Debian's package of that name, or put its binary into the PATH")
	}
	dir := t.TempDir()
	p := &prometheus{at: address(t), fired: map[string]bool{}}
	kit.Write(t, dir, map[string]string{
		"token": token, "alerts.yaml": p.rules(t),
		"prometheus.yml": fmt.Sprintf(`global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
rule_files: [alerts.yaml]
scrape_configs:
- job_name: jacquard
  scheme: https
  tls_config: {insecure_skip_verify: true}
  authorization: {credentials_file: token}
  static_configs:
  - {targets: [%[2]q], labels: {namespace: home}}
`, often, scrapes),
	})
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", p.at, "--log.level", "warn")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		cmd.Wait()                          //nolint:errcheck // it is ended on purpose
		log.Close()
		if said, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Prometheus says:\n%s", said)
		}
	})
	return p
}

// rules are the chart's, to fire at once.
func (p *prometheus) rules(t *testing.T) string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "charts", "jacquard", "files", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file ruleFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		for _, rule := range g.Rules {
			name, alerts := rule["alert"].(string)
			if !alerts {
				continue
			}
			if p.names = append(p.names, name); rule["for"] != nil {
				rule["for"] = "0s"
			}
		}
	}
	out, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// An alert is one that fires.
type alert struct {
	Labels, Annotations map[string]string
	State               string
}

// alerts are those that fire now.
func (p *prometheus) alerts() ([]alert, error) {
	var said struct{ Data struct{ Alerts []alert } }
	if err := p.ask("/api/v1/alerts", &said); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range said.Data.Alerts {
		p.fired[a.Labels["alertname"]] = true
	}
	return said.Data.Alerts, nil
}

func (p *prometheus) ask(path string, into any) error {
	answer, err := http.Get("http://" + p.at + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// firing finds an alert about a kind, "" for one that is about none.
func (p *prometheus) firing(name, kind string) (*alert, error) {
	all, err := p.alerts()
	for _, a := range all {
		if a.Labels["alertname"] == name && a.Labels["kind"] == kind {
			return &a, nil
		}
	}
	return nil, err
}

// fires waits until an alert fires, and looks at what it says.
func (p *prometheus) fires(t *testing.T, name, kind string) {
	t.Helper()
	kit.Eventually(t, name+" fires", func() error {
		a, err := p.firing(name, kind)
		if err != nil {
			return err
		}
		if a == nil {
			return errors.New("it does not")
		}
		for key, text := range a.Annotations {
			if strings.Contains(text, "error expanding") || strings.Contains(text, "<no value>") ||
				!strings.Contains(a.Annotations["description"]+a.Annotations["summary"], kind) {
				t.Errorf("%s of %s says %q", key, name, text)
			}
		}
		if a.Labels["severity"] == "" || a.Labels["namespace"] != "home" || a.Labels["job"] != "jacquard" {
			t.Errorf("%s has the labels %v", name, a.Labels)
		}
		return nil
	})
}

// firesOnly waits until no other alerts than these fire about a kind.
func (p *prometheus) firesOnly(t *testing.T, kind string, names []string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("only %v fire about %s", names, kind), func() error {
		all, err := p.alerts()
		if err != nil {
			return err
		}
		fired := map[string]bool{}
		for _, a := range all {
			name := a.Labels["alertname"]
			if a.Labels["kind"] == kind && name != "JacquardSlow" { // which a busy machine is
				fired[name] = true
			}
		}
		if len(fired) != len(names) || slices.ContainsFunc(names, func(name string) bool { return !fired[name] }) {
			return fmt.Errorf("%v fire", fired)
		}
		return nil
	})
}

// ends waits until an alert does not fire any more.
func (p *prometheus) ends(t *testing.T, name, kind string) {
	t.Helper()
	kit.Eventually(t, name+" ends", func() error {
		a, err := p.firing(name, kind)
		if err == nil && a != nil {
			err = errors.New("it fires still")
		}
		return err
	})
}

// atStart are alerts that look back upon minutes, and so upon a start on a busy
// machine: how slow it was, and what was tried again.
var atStart = []string{"JacquardSlow", "JacquardReconcileErrors"}

// calm waits until no other alert fires, by evaluations that began after now.
func (p *prometheus) calm(t *testing.T) {
	t.Helper()
	since := time.Now()
	kit.Eventually(t, "at rest no alert fires", func() error {
		if err := p.evaluated(since.Add(time.Second)); err != nil {
			return err
		}
		all, err := p.alerts()
		if err != nil {
			return err
		}
		var errs []error
		for _, a := range all {
			if !slices.Contains(atStart, a.Labels["alertname"]) {
				errs = append(errs, fmt.Errorf("%v fires: %s", a.Labels, a.Annotations["summary"]))
			}
		}
		return errors.Join(errs...)
	})
}

// evaluated fails until all alerts have been evaluated after a time.
func (p *prometheus) evaluated(after time.Time) error {
	var said struct {
		Data struct {
			Groups []struct{ LastEvaluation time.Time }
		}
	}
	if err := p.ask("/api/v1/rules", &said); err != nil {
		return err
	}
	for _, g := range said.Data.Groups {
		if !g.LastEvaluation.After(after) {
			return errors.New("not all alerts are evaluated yet")
		}
	}
	return nil
}
