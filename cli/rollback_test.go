//go:build !operator

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	revisions "github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// rolledWebs is how many resources the kind of a rolledCluster has.
const rolledWebs = 25

// A rolledCluster has a kind Web whose folder, in a ConfigMap, became "two", which added
// the ConfigMap NAME-more to each resource. Revision 1 is the folder before.
type rolledCluster struct {
	*sickServer
	*testing.T
	kubeconfig string
	crd        *schema.CRD
	one, two   string
}

const (
	webMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  text: {{ .spec.text }}\n"
	moreMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}-more\n"
	sickOne = "apiVersion: sick.example.com/v1\nkind: Sick\nmetadata:\n  name: {{ .metadata.name }}\n"
)

func newRolledCluster(t *testing.T, one map[string]string) *rolledCluster {
	t.Helper()
	s, kubeconfig, _ := sickCluster(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"you may not list Sicks"}`)
	})
	c := &rolledCluster{sickServer: s, T: t, kubeconfig: kubeconfig}
	definition := c.definition()
	text, err := json.Marshal(definition)
	if err == nil {
		c.crd, err = crdfile.Parse("crd.yaml", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	two := map[string]string{"map.yaml": webMap, "more.yaml": moreMap}
	for i, files := range []map[string]string{one, two} {
		k, f := c.compiled(files)
		r, err := revisions.Of(k, f)
		if err != nil {
			t.Fatal(err)
		}
		r.Number = int64(i + 1)
		for _, o := range r.Objects("default", "default/jacquard") {
			s.Put(o)
		}
		c.one, c.two = c.two, r.Digest
	}
	c.annotate(map[string]string{api.AnnotationChildKinds: "ConfigMap", api.AnnotationRolledOut: c.two,
		api.AnnotationRollout: rollout.Record{Revisions: []rollout.Revision{{Digest: c.two}}, State: rollout.Complete}.String()})
	c.write(two)
	c.runs(true, "configmap default/webs")
	for i := range rolledWebs {
		name := fmt.Sprintf("w%02d", i)
		s.Put(object(t, fmt.Sprintf("{apiVersion: example.com/v1, kind: Web, metadata: {name: %s, namespace: default, uid: %[1]s, generation: 1}, spec: {text: one}}", name)))
		for _, child := range []string{name, name + "-more"} {
			s.Apply(object(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: default, labels: {jacquard.dev/owner-uid: %[2]s}, annotations: {jacquard.dev/owner: webs.example.com/default/%[2]s, jacquard.dev/file: map}, ownerReferences: [{apiVersion: example.com/v1, kind: Web, name: %[2]s, uid: %[2]s, controller: true}]}, data: {text: one}}", child, name)), "jacquard")
		}
	}
	s.Requests()
	return c
}

var (
	definitionKind = kindOf("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false).GVK
	leaseKind      = kindOf("coordination.k8s.io", "Lease", "leases", true).GVK
)

func (c *rolledCluster) definition() *unstructured.Unstructured {
	return c.Get(definitionKind, "", "webs.example.com")
}

func (c *rolledCluster) compiled(files map[string]string) (*kind.Kind, *folder.Folder) {
	c.Helper()
	data := map[string][]byte{}
	for name, text := range files {
		data[name] = []byte(text)
	}
	f, err := folder.FromMap("webs.example.com", "", data)
	if err != nil {
		c.Fatal(err)
	}
	k, err := kind.Compile(f, c.crd)
	if err != nil {
		c.Fatal(err)
	}
	return k, f
}

// annotate changes annotations of the CRD, as the operator does.
func (c *rolledCluster) annotate(annotations map[string]string) {
	c.Change(c.definition(), "jacquard", func(o *unstructured.Unstructured) {
		all := o.GetAnnotations()
		for key, value := range annotations {
			all[key] = value
		}
		o.SetAnnotations(all)
	})
}

// write changes the folder, and returns its digest.
func (c *rolledCluster) write(files map[string]string) string {
	c.Helper()
	c.put(files)
	k, _ := c.compiled(files)
	return revisions.Cut(k.Digest)
}

// put changes the folder, which need not load.
func (c *rolledCluster) put(files map[string]string) {
	c.Helper()
	data := map[string]any{}
	for name, text := range files {
		data[name] = text
	}
	o := object(c.T, "{apiVersion: v1, kind: ConfigMap, metadata: {name: webs, namespace: default, labels: {jacquard.dev/kind: webs.example.com}}}")
	o.Object["data"] = data
	c.Put(o)
}

// runs says whether the operator runs, and where it has the folder from.
func (c *rolledCluster) runs(leads bool, from string) {
	c.Helper()
	report, err := json.Marshal(map[string]any{"version": "v1", "identity": "default/jacquard", "lease": "jacquard.jacquard.dev", "leaseNamespace": "default",
		"kinds": []any{map[string]any{"name": "webs.example.com", "served": "example.com/v1", "state": "Serving", "folder": from}}})
	if err != nil {
		c.Fatal(err)
	}
	c.Change(c.Get(leaseKind, "default", "jacquard-report"), "jacquard", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{api.AnnotationReport: string(report)})
	})
	holder := ""
	if leads {
		holder = "jacquard-0"
	}
	c.Put(object(c.T, fmt.Sprintf("{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: jacquard.jacquard.dev, namespace: default}, spec: {holderIdentity: %q, leaseDurationSeconds: 15, renewTime: %q}}",
		holder, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"))))
}

// jacquard runs a command line, and returns its exit code and what it prints.
func (c *rolledCluster) jacquard(line string) (int, string) {
	var out bytes.Buffer
	line = strings.TrimPrefix(strings.ReplaceAll(line, "--kubeconfig "+c.kubeconfig, ""), "jacquard ")
	code := Main(append(strings.Fields(line), "--kubeconfig", c.kubeconfig), strings.NewReader("\n"), &out, &out)
	return code, out.String()
}

// wrote returns the rollback that was written since this was asked last, which is the only
// write, or "" if nothing was.
func (c *rolledCluster) wrote() string {
	c.Helper()
	writes := slices.DeleteFunc(c.Requests(), func(r memory.Request) bool {
		return !r.Writes()
	})
	if len(writes) == 0 {
		return ""
	}
	if len(writes) > 1 || writes[0].Resource != "customresourcedefinitions" {
		c.Errorf("it wrote %v", writes)
	}
	return c.definition().GetAnnotations()[api.AnnotationRollback]
}

// pinnedIn returns the command that a plan ends with.
func pinnedIn(text string) string {
	_, command, _ := strings.Cut(text, "to carry out just this plan:\n  ")
	return strings.TrimSpace(command)
}

// TestRollbackAsks: without a yes, nothing is written and every deletion is named. The
// command that is printed does just that, and refuses once the folder is another one.
func TestRollbackAsks(t *testing.T) {
	c := newRolledCluster(t, map[string]string{"map.yaml": webMap})
	code, text := c.jacquard("rollback webs")
	if wrote := c.wrote(); code != 1 || wrote != "" {
		t.Errorf("without a yes it exits with %d, and wrote %q", code, wrote)
	}
	if n := strings.Count(text, "-more\n"); n != rolledWebs {
		t.Errorf("it names %d of %d deletions", n, rolledWebs)
	}
	pinned := "jacquard rollback webs.example.com --kubeconfig " + c.kubeconfig + " --to-revision 1 --digest " + c.two + " --yes"
	for _, want := range []string{"changes 26 of 26 resources", "25 with ConfigMap changed, ConfigMap pruned", "deletes 25 ConfigMap", pinned} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if code, again := c.jacquard("rollback webs --dry-run"); code != 0 || c.wrote() != "" || pinnedIn(again) != pinnedIn(text) {
		t.Errorf("as a dry run it exits with %d and prints %s", code, again)
	}

	three := c.write(map[string]string{"map.yaml": webMap, "more.yaml": moreMap, "third.yaml": strings.ReplaceAll(moreMap, "-more", "-third")})
	code, changed := c.jacquard(pinnedIn(text))
	if wrote := c.wrote(); code != 1 || wrote != "" || !strings.Contains(changed, "it was "+c.two+", and is "+three+" now") {
		t.Errorf("after the folder changed it exits with %d, wrote %q and prints %s", code, wrote, changed)
	}
	c.write(map[string]string{"map.yaml": webMap, "more.yaml": moreMap})
	if code, done := c.jacquard(pinnedIn(text)); code != 0 {
		t.Errorf("the printed command exits with %d: %s", code, done)
	}
	wrote := rollout.ParseRollback(c.wrote())
	if wrote.To != c.one || wrote.From != c.two || wrote.Request == "" || len(wrote.Approved) != 8*rolledWebs {
		t.Errorf("it wrote %q", wrote)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestReleasePrintsItsPlan: the end of a rollback has the plan of a rollback, with the
// present folder as its target. It approves no deletion, and says so. A folder that cannot
// be previewed does not block it.
func TestReleasePrintsItsPlan(t *testing.T) {
	const stops = "stops before it begins: it would delete 25 of 51 children"
	for _, tt := range []struct {
		name string
		from string
		// folder is the text of map.yaml in the present folder, which is nothing else.
		folder      string
		wants, lack []string
	}{
		{name: "the folder that was left", from: "configmap default/webs", folder: webMap,
			wants: []string{"changes 26 of 26 resources", "25 with ConfigMap changed, ConfigMap pruned", "deletes 25 ConfigMap", stops, "jacquard approve webs.example.com"}},
		{name: "a folder in a root, of which a revision is kept", from: "root /kinds", folder: webMap,
			wants: []string{"deletes 25 ConfigMap", stops}},
		{name: "a folder that does not load", from: "configmap default/webs", folder: "{{",
			wants: []string{"cannot be previewed:", "does not load"}, lack: []string{"changes", "deletes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newRolledCluster(t, map[string]string{"map.yaml": webMap})
			c.annotate(map[string]string{api.AnnotationRollback: rollout.Rollback{To: c.two, From: c.one, Request: "before"}.String()})
			c.put(map[string]string{"map.yaml": tt.folder})
			c.runs(true, tt.from)
			code, text := c.jacquard("rollback webs --end")
			if code != 1 || c.wrote() != "" {
				t.Errorf("without a yes it exits with %d, or wrote", code)
			}
			for _, want := range append(tt.wants, " --end ", " --digest "+c.two+" --yes") {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q", want)
				}
			}
			for _, lack := range tt.lack {
				if strings.Contains(text, lack) {
					t.Errorf("it says %q", lack)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
			c.Requests()
			code, text = c.jacquard(pinnedIn(text))
			if _, isThere := c.definition().GetAnnotations()[api.AnnotationRollback]; code != 0 || isThere {
				t.Errorf("the printed command exits with %d: %s", code, text)
			}
		})
	}
}

// TestRollbackLeavesThePresentFolder: a rollback is from the folder that is there, also if
// no operator has loaded it; and refused where that cannot be known.
func TestRollbackLeavesThePresentFolder(t *testing.T) {
	three := map[string]string{"map.yaml": webMap, "third.yaml": strings.ReplaceAll(moreMap, "-more", "-third")}
	for _, tt := range []struct {
		name  string
		leads bool
		from  string
		files map[string]string
		// to is the revision, and says what it says if it refuses.
		to, says string
	}{
		{name: "a changed folder, and an operator", leads: true, from: "configmap default/webs", files: three, to: "two"},
		{name: "a changed folder, and no operator", from: "configmap default/webs", files: three, to: "two"},
		{name: "a folder in a root, and no operator", from: "root /kinds", says: "an operator must run"},
		{name: "a folder in a root, and an operator", leads: true, from: "root /kinds", to: "one"},
		{name: "a folder that does not load", leads: true, from: "configmap default/webs", files: map[string]string{"map.yaml": "{{"}, says: "does not load"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newRolledCluster(t, map[string]string{"map.yaml": webMap})
			digests := map[string]string{"one": c.one, "two": c.two}
			from := c.two
			switch {
			case tt.says == "" && tt.files != nil:
				from = c.write(tt.files)
			case tt.files != nil:
				c.put(tt.files)
			}
			c.runs(tt.leads, tt.from)
			code, text := c.jacquard("rollback webs --yes")
			wrote := rollout.ParseRollback(c.wrote())
			if tt.says != "" {
				if code != 1 || wrote.To != "" || !strings.Contains(text, tt.says) {
					t.Errorf("it exits with %d, wrote %q and prints %s", code, wrote, text)
				}
				return
			}
			if code != 0 || wrote.To != digests[tt.to] || wrote.From != from {
				t.Errorf("it exits with %d and wrote %q, not a rollback from %s to %s; it prints %s", code, wrote, from, digests[tt.to], text)
			}
		})
	}
}

// TestRollbackWithFewRights: what may not be previewed is listed, and does not keep a
// person from a rollback.
func TestRollbackWithFewRights(t *testing.T) {
	c := newRolledCluster(t, map[string]string{"map.yaml": webMap, "sick.yaml": sickOne})
	code, text := c.jacquard("rollback webs --yes")
	if wrote := rollout.ParseRollback(c.wrote()); code != 0 || wrote.To != c.one {
		t.Errorf("it exits with %d, wrote %q", code, wrote)
	}
	for _, want := range []string{"cannot be previewed", "sicks.sick.example.com"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}

	c = newRolledCluster(t, map[string]string{"map.yaml": webMap})
	c.Refuse = func(r memory.Request) *metav1.Status {
		if r.Resource != "webs" {
			return nil
		}
		return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "you may not list webs"}
	}
	code, text = c.jacquard("rollback webs --yes")
	if wrote := rollout.ParseRollback(c.wrote()); code != 0 || wrote.To != c.one || wrote.Approved != "" || !strings.Contains(text, "you may not list webs") {
		t.Errorf("it exits with %d, wrote %q and prints %s", code, wrote, text)
	}
	if strings.Contains(text, "0 of 0 resources") {
		t.Errorf("it counts resources that it could not list: %s", text)
	}

	c = newRolledCluster(t, map[string]string{"map.yaml": webMap})
	c.Refuse = func(r memory.Request) *metav1.Status {
		if r.Resource != "leases" && r.Resource != "configmaps" {
			return nil
		}
		return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "you may not list it"}
	}
	code, text = c.jacquard("rollback webs --yes")
	if wrote := c.wrote(); code != 1 || wrote != "" || !strings.Contains(text, "it is not known whether an operator runs") {
		t.Errorf("without knowing the folder it exits with %d, wrote %q and prints %s", code, wrote, text)
	}
}

// TestRollbackWaits: a wait takes nothing for its end that the CRD recorded before, ends
// well with the rollback, and badly if that stops.
func TestRollbackWaits(t *testing.T) {
	before := every
	every = time.Millisecond
	defer func() { every = before }()
	for state, want := range map[rollout.State]struct {
		code int
		says string
	}{
		rollout.Complete: {0, "RolledBack"},
		rollout.Stopped:  {1, "Stopped: it would delete more"},
		rollout.Running:  {1, "after 300ms it is not done: RollingOut"},
	} {
		c := newRolledCluster(t, map[string]string{"map.yaml": webMap})
		c.annotate(map[string]string{api.AnnotationRollout: rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: c.two}}, State: rollout.Stopped, Reason: rollout.NotReady,
			Message: "an earlier stop"}.String()})
		looks := 0
		c.delay = func(r *http.Request) {
			written := rollout.ParseRollback(c.definition().GetAnnotations()[api.AnnotationRollback])
			if r.Method != http.MethodGet || written.Request == "" {
				return
			}
			if looks++; looks == 3 {
				c.annotate(map[string]string{api.AnnotationRollout: rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: c.one}}, State: state, Message: "it would delete more",
					Rollback: written.Request}.String()})
			}
		}
		code, text := c.jacquard("rollback webs --yes --wait=300ms")
		if code != want.code || !strings.Contains(text, want.says) || strings.Contains(text, "an earlier stop") {
			t.Errorf("%s: it exits with %d and prints %s", state, code, text)
		}
	}
}

// TestApproveComparesTheFolder: a stop is not approved once the folder is another one,
// whether the operator has loaded it or not.
func TestApproveComparesTheFolder(t *testing.T) {
	three := map[string]string{"map.yaml": webMap, "third.yaml": moreMap}
	for _, tt := range []struct {
		name  string
		from  string
		files map[string]string
		// flags are those of the command.
		flags string
		// isRolledBack: the stop is that of a rollback from two to one.
		isRolledBack bool
		// says is in the refusal; "" if it is approved.
		says string
	}{
		{name: "the folder that stopped", from: "configmap default/webs"},
		{name: "another folder", from: "configmap default/webs", files: three, says: "the folder that is to serve changed"},
		{name: "a folder that does not load", from: "configmap default/webs", files: map[string]string{"map.yaml": "{{"}, says: "does not load"},
		{name: "a folder in a root", from: "root /kinds", files: three},
		{name: "a folder whose settings are unknown, since no revision is found", from: "configmap default/webs", files: three,
			flags: " --operator-namespace other"},
		{name: "a rollback that stopped", from: "configmap default/webs", isRolledBack: true},
		{name: "a rollback that stopped, and another folder", from: "configmap default/webs", isRolledBack: true, files: three,
			says: "the folder that is to serve changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newRolledCluster(t, map[string]string{"map.yaml": webMap})
			base, target, back := c.one, c.two, ""
			if tt.isRolledBack {
				base, target, back = c.two, c.one, rollout.Rollback{To: c.one, From: c.two, Request: "r"}.String()
			}
			stop := rollout.Record{Revisions: []rollout.Revision{{Number: 1, Digest: base}, {Number: 2, Digest: target}}, State: rollout.Stopped,
				Reason: rollout.NotReady, Message: "not ready", Stop: target + "/NotReady"}
			c.annotate(map[string]string{api.AnnotationRollout: stop.String(), api.AnnotationRollback: back})
			if tt.files != nil {
				c.put(tt.files)
			}
			c.runs(true, tt.from)
			code, text := c.jacquard("approve webs --stop " + stop.Stop + " --yes" + tt.flags)
			approved, want := c.definition().GetAnnotations()[api.AnnotationApproved], stop.Stop
			if tt.says != "" {
				want = ""
			}
			if (code == 0) != (tt.says == "") || approved != want || !strings.Contains(text, tt.says) {
				t.Errorf("it exits with %d, wrote %q and prints %s", code, approved, text)
			}
		})
	}
}
