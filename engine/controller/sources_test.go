package controller

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/roots"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

const appsCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app, listKind: AppList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// appVersion is a folder of a root, and the version that it makes.
func appVersion(t *testing.T, files map[string]string) (*folder.Folder, *observe.Version) {
	t.Helper()
	data := map[string][]byte{}
	for name, text := range files {
		data[name] = []byte(text)
	}
	f, err := folder.FromMap("apps.example.com", "templates/apps.example.com", data)
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse("crd.yaml", []byte(appsCRD))
	if err != nil {
		t.Fatal(err)
	}
	k, err := kind.Compile(f, crd)
	if err != nil {
		t.Fatal(err)
	}
	return f, &observe.Version{Name: f.Name, Kind: k, Digest: digestOfKind(k)}
}

// TestStartDelay: at the start, a folder that has less than what was served before, or
// none, counts once it is quiet.
func TestStartDelay(t *testing.T) {
	const one, two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n"
	served := map[string]string{"one.yaml": one, "two.yaml": two}
	for name, tt := range map[string]struct {
		now       map[string]string // nil: there is no folder
		quiet     time.Duration
		fromMap   bool
		noRecord  bool
		unlisted  bool
		noRoots   bool
		wantDelay time.Duration
	}{
		"the same":                      {now: served},
		"a file more":                   {now: map[string]string{"one.yaml": one, "two.yaml": two, "three.yaml": "# three\n"}},
		"a file less":                   {now: map[string]string{"one.yaml": one}, wantDelay: roots.QuietPeriod},
		"a file less, quiet for 2 s":    {now: map[string]string{"one.yaml": one}, quiet: 2 * time.Second, wantDelay: 3 * time.Second},
		"a file less, and quiet":        {now: map[string]string{"one.yaml": one}, quiet: roots.QuietPeriod},
		"a shorter file":                {now: map[string]string{"one.yaml": one, "two.yaml": strings.TrimSuffix(two, "\n")}, wantDelay: roots.QuietPeriod},
		"a file less of a ConfigMap":    {now: map[string]string{"one.yaml": one}, fromMap: true},
		"a file less, never served":     {now: map[string]string{"one.yaml": one}, noRecord: true},
		"a file less, and no revisions": {now: map[string]string{"one.yaml": one}, unlisted: true},
		"no folder":                     {wantDelay: roots.QuietPeriod},
		"no folder, and no revisions":   {unlisted: true, wantDelay: roots.QuietPeriod},
		"no folder, and quiet":          {quiet: time.Minute},
		"no folder, and no roots":       {noRoots: true},
	} {
		clock := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
		o := assembleParts(&process{options: Options{Identity: "home/jacquard", Roots: []*folder.Root{folder.FromDir("x")}}, clock: clock})
		o.sources.roots = roots.Reading{Changed: clock.Now().Add(-tt.quiet)}
		if tt.noRoots {
			o.options.Roots = nil
		}
		o.stateOf("apps.example.com").source.isRooted = !tt.fromMap
		beforeFolder, before := appVersion(t, served)
		kept, err := revision.Of(before.Kind, beforeFolder)
		if err != nil {
			t.Fatal(err)
		}
		p := &kindPass{o: o.manager, name: "apps.example.com"}
		if !tt.noRecord {
			p.in.Record.Rollout.Revisions = []rollout.Revision{{Digest: before.Digest}}
		}
		p.history = &history{o: o.revisions, list: func() ([]*revision.Revision, error) {
			if tt.unlisted {
				return nil, errNoHome
			}
			return []*revision.Revision{kept}, nil
		}}
		if tt.now != nil {
			f, now := appVersion(t, tt.now)
			p.folder, p.in.Folder.Digest = f, now.Digest
		}
		if got := p.startDelay(); got != tt.wantDelay {
			t.Errorf("%s: %s, want %s", name, got, tt.wantDelay)
		}
		broken := *p
		broken.in.Folder.Err = errors.New("no")
		if broken.startDelay() != 0 {
			t.Errorf("%s: what does not load waits", name)
		}
		clock.Step(tt.wantDelay)
		if got := p.startDelay(); got != 0 {
			t.Errorf("%s: %s after it was quiet", name, got)
		}
		o.sources.roots.Changed = clock.Now() // from now on, the reader of the roots knows what was there
		p.folder, p.in.Folder = nil, kinds.Folder{}
		if got := p.startDelay(); got != 0 {
			t.Errorf("%s: %s after it has counted", name, got)
		}
	}
}

// TestMissingRootKeepsKinds: what lies in a missing root is not known to be gone; this
// is of no concern to what others serve. The process is ready once it was there.
func TestMissingRootKeepsKinds(t *testing.T) {
	missing := func(neverRead bool) roots.Reading {
		return roots.Reading{Missing: []roots.Missing{{Root: "root /live", NeverRead: neverRead, Err: errors.New("it is away")}}}
	}
	for name, tt := range map[string]struct {
		roots roots.Reading
		claim string
		ready Readiness
		held  bool
		code  int
	}{
		"all roots there":      {roots.Reading{}, "home/jacquard", "", false, 200},
		"missing":              {missing(false), "home/jacquard", "", true, 200},
		"of another":           {missing(false), "other/jacquard", "", false, 200},
		"of nobody":            {missing(false), "", "", false, 200},
		"never there":          {missing(true), "home/jacquard", "", true, 500},
		"never there, for all": {missing(true), "home/jacquard", ReadyAll, true, 500},
		"never there, no wait": {missing(true), "home/jacquard", ReadyNone, true, 200},
	} {
		o := assembleParts(&process{options: Options{Identity: "home/jacquard", Ready: tt.ready}.withDefaults()})
		o.listed = true
		o.stateOf("apps.example.com").crd = &apiextensionsv1.CustomResourceDefinition{}
		o.sources.takeRoots(t.Context(), tt.roots)
		if again := len(tt.roots.Missing) > 0; (o.names.Len() == 1) != again {
			t.Errorf("%s: %d kinds are settled", name, o.names.Len())
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if crd.Annotations = map[string]string{}; tt.claim != "" {
			crd.Annotations[api.AnnotationOperator] = tt.claim
		}
		if err := o.sources.missingRoot(crd); (err != nil) != tt.held || err != nil && !strings.Contains(err.Error(), "root /live, which cannot be read: it is away") {
			t.Errorf("%s: %v", name, err)
		}
		answer := httptest.NewRecorder()
		o.probeHandler().ServeHTTP(answer, httptest.NewRequest("GET", "/readyz?verbose", nil))
		if named := strings.Contains(answer.Body.String(), "root /live cannot be read: it is away"); answer.Code != tt.code || named != (len(tt.roots.Missing) > 0) {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}
