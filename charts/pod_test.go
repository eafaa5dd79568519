package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jacquard-operator/jacquard/cli"
)

func deployment(t *testing.T, values map[string]any) appsv1.Deployment {
	t.Helper()
	var d appsv1.Deployment
	found := ofKind(rendered(t, values), "Deployment")
	if len(found) != 1 {
		t.Fatalf("there are %d Deployments", len(found))
	}
	into(t, found[0], &d)
	return d
}

func container(t *testing.T, text string) corev1.Container {
	t.Helper()
	return deployment(t, values(t, text)).Spec.Template.Spec.Containers[0]
}

// TestFlags: the operator has every flag that the chart gives it.
func TestFlags(t *testing.T) {
	t.Parallel()
	var help, trouble bytes.Buffer
	if code := cli.Main([]string{"run", "--help"}, strings.NewReader(""), &help, &trouble); code != 0 {
		t.Fatal(trouble.String())
	}
	known := regexp.MustCompile(`--[a-z-]+`).FindAllString(help.String(), -1)
	for name, values := range combinations(t) {
		args := deployment(t, values).Spec.Template.Spec.Containers[0].Args
		for _, arg := range args[1:] {
			flag, _, _ := strings.Cut(arg, "=")
			if !slices.Contains(known, flag) {
				t.Errorf("%s: %s: is not known to jacquard run", name, arg)
			}
		}
	}
}

// TestArguments: values become arguments.
func TestArguments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"readOnly: true":                       "--read-only",
		"selector: team in (a,b)":              "--selector=team in (a,b)",
		"namespaces: [a, b]":                   "--namespaces=a,b",
		"readiness: {folders: none}":           "--ready-folders=none",
		"log: {level: debug}":                  "--log-level=debug",
		"metrics: {enabled: false}":            "--metrics-bind-address=0",
		"metrics: {secure: false}":             "--metrics-secure=false",
		"metrics: {port: 9090}":                "--metrics-bind-address=:9090",
		"metrics: {certSecret: c}":             "--metrics-cert-path=/etc/jacquard/metrics",
		"leaderElection: {leaseDuration: 30s}": "--leader-elect-lease-duration=30s",
		"leaderElection: {renewDeadline: 20s}": "--leader-elect-renew-deadline=20s",
		"leaderElection: {retryPeriod: 4s}":    "--leader-elect-retry-period=4s",
		"kinds: {images: [{reference: a}]}":    "--root=/kinds/0",
		"kinds: {a.b: {config: {c: d}}}":       "--config=/etc/jacquard/settings/settings.yaml",
		"extraArgs: [--workers=1]":             "--workers=1",
	} {
		if args := container(t, text).Args; !slices.Contains(args, want) {
			t.Errorf("%s: the arguments are %v, without %s", text, args, want)
		}
		if args := container(t, "{}").Args; slices.Contains(args, want) {
			t.Errorf("%s is an argument by default", want)
		}
	}
}

// TestImage: tag, digest, or both.
func TestImage(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0", 64)
	for text, want := range map[string]string{
		"{}":                                "ghcr.io/jacquard-operator/jacquard:v0.1.0",
		"image: {repository: a/b, tag: c}":  "a/b:c",
		"image: {digest: '" + digest + "'}": "ghcr.io/jacquard-operator/jacquard@" + digest,
		"image: {tag: c, digest: '" + digest + "'}":                              "ghcr.io/jacquard-operator/jacquard:c@" + digest,
		"global: {imageRegistry: 'a.org:5000'}":                                  "a.org:5000/jacquard-operator/jacquard:v0.1.0",
		"{global: {imageRegistry: a.org}, image: {repository: b/c}}":             "a.org/b/c:v0.1.0",
		"{global: {imageRegistry: a.org}, image: {repository: 'localhost:1/b'}}": "a.org/b:v0.1.0",
	} {
		if got := container(t, text).Image; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestMemory: Go's collector is told of the limit, where there is one.
func TestMemory(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{
		"512Mi": "483183820", "1Gi": "966367641", "1G": "900000000", "1000000000": "900000000", "1.5Gi": "", "null": "",
	} {
		got := ""
		for _, e := range container(t, "resources: {limits: {memory: "+limit+"}}").Env {
			if e.Name == "GOMEMLIMIT" {
				got = e.Value
			}
		}
		if got != want {
			t.Errorf("limit %s: GOMEMLIMIT is %q, want %q", limit, got, want)
		}
	}
}

// TestRestarts: new Pods come with new settings of folders in images, which are read
// at the start, and neither with other kinds and their settings nor with another
// version of the chart alone.
func TestRestarts(t *testing.T) {
	t.Parallel()
	template := func(r release) corev1.PodTemplateSpec {
		r.name, r.namespace = "jacquard", "jacquard"
		objects, err := render(r)
		if err != nil {
			t.Fatal(err)
		}
		var d appsv1.Deployment
		into(t, ofKind(objects, "Deployment")[0], &d)
		return d.Spec.Template
	}
	before := template(release{})
	for what, same := range map[string]release{
		"a version": {version: "9.9.9"},
		"kinds":     {values: values(t, "kinds: {enabled: [apps.app.huolala.cn]}")},
		"settings":  {values: values(t, "kinds: {enabled: [apps.app.huolala.cn], apps.app.huolala.cn: {config: {a: b}}}")},
	} {
		if diff := cmp.Diff(before, template(same)); diff != "" {
			t.Errorf("another %s of the chart restarts the operator:\n%s", what, diff)
		}
	}
	one, other := template(release{values: values(t, "kinds: {a.b: {config: {c: 1}}}")}), template(release{values: values(t,
		"kinds: {a.b: {config: {c: 2}}}")})
	if cmp.Equal(one, other) {
		t.Error("changed settings do not restart the operator")
	}
}

// TestLasting: a new version of the chart alone changes no CRD, no folder and no
// role.
func TestLasting(t *testing.T) {
	t.Parallel()
	before := rendered(t, samples(t))
	after, err := render(release{name: "jacquard", namespace: "jacquard", version: "9.9.9", values: samples(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range before {
		if slices.Contains([]string{"CustomResourceDefinition", "ConfigMap", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"},
			o.GetKind()) && !cmp.Equal(o, after[i]) {
			t.Errorf("%s: differs", title(o))
		}
	}
}
