package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"sigs.k8s.io/yaml"
)

// kinds are CRDs whose kinds are in some state, written by a test of
// test/integration/admin, with what Argo CD and Flux are to say of each.
var kinds = map[string]struct{ argo, flux string }{
	"Serving":        {"Healthy", "Current"},
	"RollingOut":     {"Progressing", "InProgress"},
	"Paused":         {"Suspended", "Current"},
	"RolloutStopped": {"Degraded", "Failed"},
	"FolderInvalid":  {"Degraded", "Failed"},
}

const (
	ofCRDs         = "apiextensions.k8s.io_CustomResourceDefinition"
	ofApplications = "argoproj.io_Application"
)

// TestOperatorIsChecked: the state on a CRD stays while the operator is down, so the checks
// of the document include the operator: by its Application, and by its Deployment.
func TestOperatorIsChecked(t *testing.T) {
	script := scripts(t)[ofApplications]
	for text, want := range map[string]verdict{
		`{}`:           {"Progressing", "not known yet"},
		`{status: {}}`: {"Progressing", "not known yet"},
		`{status: {health: {status: Degraded, message: "0 of 2"}}}`: {"Degraded", "0 of 2"},
		`{status: {health: {status: Healthy}}}`:                     {"Healthy", ""},
	} {
		var application map[string]any
		if err := yaml.Unmarshal([]byte(text), &application); err != nil {
			t.Fatal(err)
		}
		if got, err := health(script, application); err != nil || got != want {
			t.Errorf("Argo CD says of %s: %v (%v), want %v", text, got, err, want)
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var checked []string
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		var object struct {
			Spec struct {
				Wait         bool
				HealthChecks []struct{ APIVersion, Kind, Namespace, Name string }
			}
		}
		if yaml.Unmarshal([]byte(m[1]), &object) != nil {
			continue
		}
		if len(object.Spec.HealthChecks) > 0 && object.Spec.Wait {
			t.Errorf("Flux ignores healthChecks beside wait:\n%s", m[1])
		}
		for _, c := range object.Spec.HealthChecks {
			checked = append(checked, strings.Join([]string{c.APIVersion, c.Kind, c.Namespace, c.Name}, " "))
		}
	}
	if want := "apps/v1 Deployment jacquard jacquard"; !slices.Contains(checked, want) {
		t.Errorf("Flux checks %v, without %s", checked, want)
	}
}

// TestKinds: Argo CD and Flux wait for a kind by the checks of the document.
func TestKinds(t *testing.T) {
	script, check := scripts(t)[ofCRDs], expressions(t)
	files, err := filepath.Glob(filepath.Join(fixtures, "crds", "*.yaml"))
	if err != nil || len(files) != len(kinds) {
		t.Errorf("there are %v (%v), want the states %v", files, err, kinds)
	}
	for state, want := range kinds {
		data, err := os.ReadFile(filepath.Join(fixtures, "crds", state+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var crd map[string]any
		if err := yaml.Unmarshal(data, &crd); err != nil {
			t.Fatal(err)
		}
		if got, err := health(script, crd); err != nil || got.Status != want.argo || !strings.Contains(got.Message, state) {
			t.Errorf("Argo CD says of %s: %v (%v), want %s", state, got, err, want.argo)
		}
		if got, err := check.status(crd); err != nil || got != want.flux {
			t.Errorf("Flux says of %s: %s (%v), want %s", state, got, err, want.flux)
		}
	}
}

// TestOtherCRDs: of a CRD that no operator serves both say what they do without the
// checks of the document.
func TestOtherCRDs(t *testing.T) {
	script, check := scripts(t)[ofCRDs], expressions(t)
	for text, want := range map[string]struct{ argo, flux string }{
		`{metadata: {name: a}, status: {}}`:                                                                 {"Progressing", "InProgress"},
		`{metadata: {name: a}, status: {conditions: [{type: Established, status: "False"}]}}`:               {"Progressing", "InProgress"},
		`{metadata: {name: a}, status: {conditions: [{type: Established, status: "True"}]}}`:                {"Healthy", "Current"},
		`{metadata: {annotations: {a: b}}, status: {conditions: [{type: Established, status: "True"}]}}`:    {"Healthy", "Current"},
		`{metadata: {name: a}, status: {conditions: [{type: NamesAccepted, status: "False", message: m}]}}`: {"Degraded", "InProgress"},
	} {
		var crd map[string]any
		if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
			t.Fatal(err)
		}
		if got, err := health(script, crd); err != nil || got.Status != want.argo {
			t.Errorf("Argo CD says of %s: %v (%v), want %s", text, got, err, want.argo)
		}
		if got, err := check.status(crd); err != nil || got != want.flux {
			t.Errorf("Flux says of %s: %s (%v), want %s", text, got, err, want.flux)
		}
	}
}

// A check is Flux's: expressions over the fields of an object.
type check struct{ Kind, Failed, Current string }

// expressions are those of the document.
func expressions(t *testing.T) check {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		var spec struct{ HealthCheckExprs []check }
		if yaml.Unmarshal([]byte(m[1]), &spec) == nil && len(spec.HealthCheckExprs) == 1 {
			return spec.HealthCheckExprs[0]
		}
	}
	t.Fatalf("%s has no healthCheckExprs", document)
	return check{}
}

// status is what Flux makes of an object: it asks whether it has failed before it asks
// whether it is current (https://fluxcd.io/flux/components/kustomize/kustomizations/#health-check-expressions).
func (c check) status(object map[string]any) (string, error) {
	for _, ask := range []struct{ expression, status string }{{c.Failed, "Failed"}, {c.Current, "Current"}} {
		if yes, err := holds(ask.expression, object); err != nil || yes {
			return ask.status, err
		}
	}
	return "InProgress", nil
}

// holds evaluates an expression, in which the fields of an object are variables.
func holds(expression string, object map[string]any) (bool, error) {
	var fields []cel.EnvOption
	for name := range object {
		fields = append(fields, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(fields...)
	if err != nil {
		return false, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	program, err := env.Program(ast)
	if err != nil {
		return false, err
	}
	out, _, err := program.Eval(object)
	if err != nil {
		return false, err
	}
	yes, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%s is a %s", expression, out.Type().TypeName())
	}
	return yes, nil
}
