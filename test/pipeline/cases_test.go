package pipeline

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestChanges runs the action for each change of testdata, and compares what it
// writes with what stands there.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// failed is what the action ends with.
		failed bool
		inputs map[string]string
	}{
		"clean":      {inputs: map[string]string{"coverage": "100"}},
		"lint-error": {failed: true},
		"wider":      {},
		"breaking":   {failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := base(t)
			write(t, dir, archive(t, name).Files)
			git(t, dir, commit)
			r := start(t, dir, pullRequest(), c.inputs)
			r.judge(t, name, c.failed)
			if r.report["comment.md"] != r.summary {
				t.Errorf("the summary is another one:\n%s", r.summary)
			}
			if !strings.Contains(r.report["comment.md"], "| cluster | not asked: there is no kubeconfig |") {
				t.Errorf("it tells nothing of the cluster:\n%s", r.report["comment.md"])
			}
		})
	}
}

// TestCluster: with a kubeconfig, the comment tells what a rollout would delete, and
// no value of a Secret. The kubeconfig is not left behind.
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := kit.Start(t, "--components", "etcd,apiserver,controller-manager")
	dir := base(t)
	namespace := cluster.Namespace(t)
	for _, f := range archive(t, "repository").Files {
		if strings.HasPrefix(f.Name, "crds/") {
			cluster.Apply(t, "", string(f.Data))
		}
	}
	kinds := map[string]string{"Page": "hello", "Login": "shop"}
	for kind := range kinds {
		cluster.Served(t, "pipeline.example.com/v1", kind)
	}
	cluster.Apply(t, namespace, text(t, filepath.Join(dir, "examples/pages.pipeline.example.com.yaml")))
	cluster.Apply(t, namespace, strings.Replace(text(t, filepath.Join(dir, "examples/logins.pipeline.example.com.yaml")),
		"{user: shop}", "{user: shop, password: not-to-be-seen}", 1))
	operator := cluster.Run(t, func(o *controller.Options) { o.Identity = "pipeline" }, dir)
	for kind, name := range kinds {
		kit.Eventually(t, name+" is ready", func() error { return cluster.Ready("pipeline.example.com/v1", kind, namespace, name) })
	}
	operator.Stop(t)
	write(t, dir, archive(t, "deleting").Files)
	git(t, dir, commit)
	kubeconfig := text(t, filepath.Join(cluster.Dir, "kubeconfig"))
	r := start(t, dir, pullRequest(), map[string]string{"kubeconfig": kubeconfig})
	for name := range r.report {
		r.report[name] = strings.ReplaceAll(r.report[name], namespace, "NAMESPACE")
		for _, secret := range []string{"not-to-be-seen", "bm90LXRvLWJlLXNlZW4", "token:"} {
			if strings.Contains(r.report[name], secret) || strings.Contains(r.log, secret) {
				t.Errorf("%s: %q is told:\n%s", name, secret, r.report[name])
			}
		}
	}
	r.judge(t, "deleting", false)
	if left := leftovers(t, dir, kubeconfig); left != "" {
		t.Errorf("the kubeconfig is left in %s", left)
	}
	for name, on := range map[string]event{
		"a fork":         fork("stranger/kinds"),
		"a deleted fork": fork(""),
		"a comment":      {name: "issue_comment"},
	} {
		if err := os.RemoveAll(filepath.Join(dir, "jacquard-report")); err != nil {
			t.Fatal(err)
		}
		r := start(t, dir, on, map[string]string{"kubeconfig": kubeconfig})
		if !strings.Contains(r.report["comment.md"], "| cluster | not asked: the change may come from a fork |") ||
			strings.Contains(r.report["comment.md"], "### Cluster") {
			t.Errorf("%s gets the cluster: exit %d:\n%s\n%s", name, r.code, r.log, r.report["comment.md"])
		}
	}
}

func fork(of string) event {
	e := pullRequest()
	e.context["github.event.pull_request.head.repo.full_name"] = of
	return e
}

// leftovers is a file in the repository that has a text; "" if none has.
func leftovers(t *testing.T, dir, secret string) (found string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(text(t, name), secret) {
			found = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// seconds are times in JUnit's XML, which no test asserts.
var seconds = regexp.MustCompile(`time="[0-9.]+"`)

// judge compares a run with what testdata wants of it, or writes that there.
func (r run) judge(t *testing.T, name string, failed bool) {
	t.Helper()
	if want := map[bool]int{true: 1, false: 0}[failed]; r.code != want || r.outputs["failed"] != map[bool]string{true: "true", false: "false"}[failed] {
		t.Errorf("exit %d, wanted %d; outputs %v:\n%s", r.code, want, r.outputs, r.log)
	}
	for output, file := range map[string]string{"comment": "comment.md", "sarif": "lint.sarif", "junit": "junit.xml"} {
		if r.outputs[output] != "jacquard-report/"+file {
			t.Errorf("the output %s is %q", output, r.outputs[output])
		}
	}
	safe(t, r.report["comment.md"])
	readSARIF(t, r.report["lint.sarif"])
	got := []txtar.File{
		{Name: wanted + "comment.md", Data: []byte(r.report["comment.md"])},
		{Name: wanted + "lint.sarif", Data: []byte(r.report["lint.sarif"])},
		{Name: wanted + "junit.xml", Data: []byte(seconds.ReplaceAllString(r.report["junit.xml"], `time="0"`))},
	}
	a := archive(t, name)
	var rest, want []txtar.File
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, wanted) {
			want = append(want, f)
		} else {
			rest = append(rest, f)
		}
	}
	if *update {
		a.Files = append(rest, got...)
		if err := os.WriteFile(filepath.Join("testdata", name+".txtar"), txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func texts(files []txtar.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Name] = string(f.Data)
	}
	return all
}
