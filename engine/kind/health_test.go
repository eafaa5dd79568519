package kind

import (
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// ofFlux is from https://fluxcd.io/flux/cheatsheets/cel-healthchecks, unchanged.
const ofFlux = `- apiVersion: bitnami.com/v1alpha1
  kind: SealedSecret
  failed: status.conditions.filter(e, e.type == 'Synced').all(e, e.status == 'False')
  current: status.conditions.filter(e, e.type == 'Synced').all(e, e.status == 'True')
`

// TestEntryOfFlux: an entry from Flux's documentation decides.
func TestEntryOfFlux(t *testing.T) {
	k := compile(t, map[string]string{"a.yaml": head, "kind.yaml": "healthCheckExprs:\n" + ofFlux})
	rule := k.Health.FindAuthored(apischema.GroupKind{Group: "bitnami.com", Kind: "SealedSecret"})
	for status, want := range map[string]health.Result{
		"": {Message: "it has no status yet"},
		"status: {conditions: [{type: Synced, status: 'True'}]}":                                 {State: health.Current},
		"status: {conditions: [{type: Synced, status: 'False', message: no key could decrypt}]}": {State: health.Failed, Message: "no key could decrypt"},
		"status: {conditions: [{type: Synced, status: 'Unknown', reason: Waiting}]}":             {Message: "Synced=Unknown: Waiting"},
	} {
		obj := map[string]any{}
		if err := sigsyaml.Unmarshal([]byte(status), &obj); err != nil {
			t.Fatal(err)
		}
		if got := rule.Evaluate(obj); got != want {
			t.Errorf("%s: %+v, want %+v", status, got, want)
		}
	}
}

// TestWrongEntries: what is wrong with an entry is reported where it stands, however
// the expression is written.
func TestWrongEntries(t *testing.T) {
	const start = "healthCheckExprs:\n- apiVersion: example.com/v1\n  "
	const undeclared = "there is no function startWith; did you mean startsWith?"
	for text, want := range map[string]string{
		start + "current: status.phase.startWith('a')\n":                                 "kind.yaml:3:34: healthCheckExprs[0].current: " + undeclared,
		start + "current: \"status.phase.startWith('a')\"\n":                             "kind.yaml:3:35: healthCheckExprs[0].current: " + undeclared,
		start + "current: 'status.phase.startWith(''a'')'\n":                             "kind.yaml:3:35: healthCheckExprs[0].current: " + undeclared,
		start + "current: '''a'' == status.phase.startWith(''a'')'\n":                    "kind.yaml:3:44: healthCheckExprs[0].current: " + undeclared,
		start + "current: status.a &&\n    status.phase.startWith('a')\n":                "kind.yaml:4:27: healthCheckExprs[0].current: " + undeclared,
		start + "current: >-\n    status.a &&\n    b.startWith('a')\n":                   "kind.yaml:5:16: healthCheckExprs[0].current: " + undeclared,
		start + "current: |\n\n    status.a &&\n      b.startWith('a')\n":                "kind.yaml:6:18: healthCheckExprs[0].current: " + undeclared,
		start + "current: true\n":                                                        "kind.yaml:3:12: healthCheckExprs[0].current must be a text: write it in quotes",
		start + "failed: 'true'\n":                                                       "kind.yaml:2:3: healthCheckExprs[0].current: it is missing: it is the expression that is true once the object is ready",
		start + "curren: 'true'\n":                                                       "kind.yaml:3:3: unknown field healthCheckExprs[0].curren; did you mean current?",
		start + "current: a &&\n":                                                        "kind.yaml:3:16: healthCheckExprs[0].current: Syntax error: mismatched input '<EOF>'",
		start + "current: \"true\"\n- apiVersion: example.com/v2\n  current: \"true\"\n": "kind.yaml:4:15: healthCheckExprs[1].apiVersion: healthCheckExprs[0] is for example.com/* already: remove one of them, since versions are ignored",
		"healthCheckExprs:\n- apiVersion: '*'\n  current: \"true\"\n":                    "kind.yaml:2:16: healthCheckExprs[0].apiVersion: it must be GROUP/VERSION",
		"healthChecks: []\n":                                                             "kind.yaml:1:1: unknown field healthChecks; did you mean healthCheckExprs?",
	} {
		_, err := compileFor(t, definition, map[string]string{"a.yaml": head, "kind.yaml": text})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// compileRoot compiles the folder of a root that has a health.yaml, unless text is "".
func compileRoot(t *testing.T, text, child string) (*Kind, error) {
	t.Helper()
	crd, err := crdfile.Parse("crd.yaml", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"a.yaml": []byte(child)}
	if text != "" {
		files[folder.LibHealthName] = []byte(text)
	}
	f, err := folder.FromMap(crd.Name, "root", files)
	if err != nil {
		t.Fatal(err)
	}
	return Compile(f, crd)
}

const things = "apiVersion: things.example.org/v1\nkind: Thing\nmetadata:\n  name: {{ .metadata.name }}\n"

// TestRootHealth: of the entries of a root, a folder has those for kinds that it
// renders or reads, and no others are part of its digest. What is said otherwise of
// the file is no part of it either.
func TestRootHealth(t *testing.T) {
	const entry = "- apiVersion: things.example.org/v1\n  kind: Thing\n  current: has(status.a)\n"
	const other = "- {apiVersion: other.example.org/v1, current: has(status.b)}\n"
	base, err := compileRoot(t, "", things)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text, child  string
		used         string
		sameAsAbsent bool
	}{
		"none of its kinds":   {"healthCheckExprs:\n" + other, things, "", true},
		"nothing":             {"# nothing yet\n", things, "", true},
		"rendered":            {"healthCheckExprs:\n" + other + entry, things, "things.example.org/Thing", false},
		"another order":       {"# a comment\nhealthCheckExprs:\n" + entry + other, things, "things.example.org/Thing", false},
		"another entry":       {"healthCheckExprs:\n- {apiVersion: '*.example.org/*', current: has(status.a)}\n", things, "*.example.org/*", false},
		"covered by the kind": {"healthCheckExprs:\n- {apiVersion: things.example.org/v1, current: has(status.c)}\n" + entry, things, "things.example.org/Thing", false},
		"read":                {"healthCheckExprs:\n" + other, things + "data: {{ (lookup \"other.example.org/v1\" \"Other\" \"\" \"x\") | toYaml | quote }}\n", "other.example.org/*", false},
		"patched":             {"healthCheckExprs:\n" + other, things + "---\napiVersion: other.example.org/v1\nkind: Other\nmetadata:\n  name: x\n  annotations: {jacquard.dev/ownership: patch}\n", "other.example.org/*", false},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := compileRoot(t, test.text, test.child)
			if err != nil {
				t.Fatal(err)
			}
			var used []string
			for _, e := range k.HealthEntries {
				used = append(used, e.String())
			}
			if got := strings.Join(used, " "); got != test.used {
				t.Errorf("it uses %q, want %q", got, test.used)
			}
			if test.child == things && (k.Digest == base.Digest) != test.sameAsAbsent {
				t.Errorf("the digest is that of a folder without entries: %v, want %v", !test.sameAsAbsent, test.sameAsAbsent)
			}
			again, err := compileRoot(t, string(k.RootHealth()), test.child)
			if err != nil || again.Digest != k.Digest {
				t.Errorf("what is packed has the digest %s, want %s, %v", again.Digest, k.Digest, err)
			}
		})
	}
	first, err1 := compileRoot(t, "healthCheckExprs:\n"+other+entry, things)
	second, err2 := compileRoot(t, "# a comment\nhealthCheckExprs:\n"+entry+other, things)
	if err1 != nil || err2 != nil || first.Digest != second.Digest {
		t.Errorf("the order of entries changes the digest: %v, %v", err1, err2)
	}
}

// TestWrongRootHealth: a mistake of the root's entries is one of each of its folders.
func TestWrongRootHealth(t *testing.T) {
	for text, want := range map[string]string{
		"healthCheckExprs:\n- apiVersion: a.b/v1\n  current: a &&\n": "root/_lib-health.yaml:3:16: healthCheckExprs[0].current: Syntax error",
		"- apiVersion: a.b/v1\n":                                     "root/_lib-health.yaml:1:1: it must be a map of fields",
		"exprs: []\n":                                                "root/_lib-health.yaml:1:1: unknown field exprs; there are healthCheckExprs",
	} {
		if _, err := compileRoot(t, text, things); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestHealthPrecedence: the folder's entry wins over the root's.
func TestHealthPrecedence(t *testing.T) {
	crd, err := crdfile.Parse("crd.yaml", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	f, err := folder.FromMap(crd.Name, "root", map[string][]byte{
		"a.yaml":             []byte(things),
		"kind.yaml":          []byte("healthCheckExprs:\n- {apiVersion: '*.example.org/*', current: has(status.a)}\n"),
		folder.LibHealthName: []byte("healthCheckExprs:\n- {apiVersion: things.example.org/v1, kind: Thing, current: has(status.b)}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Compile(f, crd)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Health.FindAuthored(apischema.GroupKind{Group: "things.example.org", Kind: "Thing"}).String(); got != "*.example.org/*" {
		t.Errorf("%s decides", got)
	}
}
