package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// shop is what runs of one shop; NAME stands for its name, MORE for labels.
const shop = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  labels: {app.kubernetes.io/name: NAMEMORE}
spec:
  replicas: 1
  selector:
    matchLabels: {app.kubernetes.io/name: NAME}
  template:
    metadata:
      labels: {app.kubernetes.io/name: NAME, part-of: shops}
    spec:
      containers:
      - name: web
        image: memcached:1.6-alpine
        command: [memcached, -m=64]
        ports:
        - containerPort: 11211
---
apiVersion: v1
kind: Service
metadata:
  name: NAME
  labels: {app.kubernetes.io/name: NAMEMORE}
spec:
  selector: {app.kubernetes.io/name: NAME}
  ports:
  - port: 11211
`

// shops are five of them: ten objects.
func shops() (names []string, manifests string) {
	for _, name := range []string{"north", "east", "south", "west", "online"} {
		names = append(names, name)
		manifests += "---\n" + strings.NewReplacer("NAME", name, "MORE", "").Replace(shop)
	}
	return names, manifests
}

// moved: ten objects that run move from manifests, from Helm and from Flux to a kind
// that is made of what they were made of, by the steps of docs/operations/move.md.
func moved(t *testing.T, n *realNode) {
	names, manifests := shops()
	dir := t.TempDir()
	chart := filepath.Join(dir, "chart")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, text)
	}
	write(filepath.Join(chart, "Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
	write(filepath.Join(chart, "templates", "shop.yaml"), strings.NewReplacer("NAME", "{{ .Release.Name }}",
		"MORE", ", app.kubernetes.io/managed-by: {{ .Release.Service }}", "-m=64", "-m={{ .Values.memory }}").Replace(shop))
	write(filepath.Join(chart, "values.yaml"), "memory: 64\n")
	manifest := filepath.Join(dir, "shop.yaml")
	write(manifest, strings.NewReplacer("NAME", names[0], "MORE", "").Replace(shop))

	for _, from := range []struct {
		name, kind, source string
		install            func(t *testing.T, to string)
		leave              func(t *testing.T, in string)
	}{{
		name: "manifests", kind: "Shop", source: "--from-manifests=" + manifest,
		install: func(t *testing.T, to string) {
			if _, err := n.try(admin, manifests, "kubectl", "apply", "--namespace", to, "-f", "-"); err != nil {
				t.Fatal(err)
			}
		},
		leave: func(*testing.T, string) {},
	}, {
		name: "helm", kind: "Store", source: "--from-chart=" + chart,
		install: func(t *testing.T, to string) {
			for i, name := range names {
				n.helm(t, []string{"helm", "helm3"}[i%2], "install", name, chart, "--namespace", to)
			}
		},
		leave: func(t *testing.T, in string) {
			n.kubectl(t, "delete", "secret", "--namespace", in, "-l", "owner=helm")
		},
	}, {
		name: "flux", kind: "Shop", source: "",
		install: func(t *testing.T, to string) { n.flux(t, to, manifests) },
		leave:   func(*testing.T, string) {},
	}} {
		t.Run(from.name, func(t *testing.T) {
			in, group, crd := "moved-"+from.name, "moved.example.com", strings.ToLower(from.kind)+"s.moved.example.com"
			n.kubectl(t, "create", "namespace", in)
			from.install(t, in)
			eventually(t, "the shops run", func() error { return n.run(in, "part-of=shops", len(names)) })
			if from.source != "" {
				if _, err := n.try(admin, "", "jacquard", "new", from.kind, "--group", group, "--root", dir, from.source); err != nil {
					t.Fatal(err)
				}
				n.apply(t, admin, n.pack(t, dir, crd))
				n.kubectl(t, "wait", "--for=condition=Established", "crd/"+crd)
			}
			before, since := n.parts(t, in), time.Now()
			for _, name := range names {
				n.apply(t, admin, fmt.Sprintf("apiVersion: %s/v1alpha1\nkind: %s\nmetadata: {name: %s, namespace: %s, annotations: {jacquard.dev/paused: 'true'}}\n",
					group, from.kind, name, in))
			}
			adopt := []string{"adopt", crd, "--all", "--namespace", in, "--root", dir}
			for _, step := range []struct{ flag, says string }{
				{"--yes=false", "can be adopted: 10, stay as they are: 0, missing: 0"}, {"--yes", "adopted: 10, stay as they are: 0, missing: 0"},
			} {
				out, err := n.try(admin, "", "jacquard", append(adopt, step.flag)...)
				if err != nil || !strings.Contains(out, step.says) {
					t.Fatalf("%s: %v\n%s", step.flag, err, out)
				}
			}
			from.leave(t, in)
			n.kubectl(t, "annotate", crd, "--namespace", in, "--all", "jacquard.dev/paused-")
			n.kubectl(t, "wait", "--for=condition=Ready", "--timeout="+patience.String(), "--namespace", in, crd, "--all")
			if after := n.parts(t, in); after != before {
				t.Errorf("there were\n%s\nand now there are\n%s", before, after)
			}
			n.unmoved(t, in, since)

			n.kubectl(t, "delete", "service", names[0], "--namespace", in)
			eventually(t, "a Service that is deleted comes back", func() error {
				_, err := n.try(admin, "", "kubectl", "get", "service", names[0], "--namespace", in)
				return err
			})
			n.kubectl(t, "delete", crd, "--namespace", in, "--all")
			eventually(t, "the Pods go with their resources", func() error { return n.run(in, "part-of=shops", 0) })
		})
	}
	for _, kind := range []string{"shops", "stores"} {
		n.kubectl(t, "annotate", "crd", kind+".moved.example.com", "jacquard.dev/allow-delete=true")
		n.unable(func() {
			if _, err := n.try(admin, n.pack(t, dir, kind+".moved.example.com"), "kubectl", "delete", "-f", "-"); err != nil {
				t.Error(err)
			}
			n.serves(t, "after-"+kind)
		})
	}
}

// flux applies manifests as Flux's kustomize-controller does; into a namespace, if one is
// given.
func (n *realNode) flux(t *testing.T, to, manifests string) {
	t.Helper()
	log.SetLogger(logr.Discard())
	objects, err := utils.ReadObjects(strings.NewReader(manifests))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if to != "" {
			o.SetNamespace(to)
		}
	}
	c := n.client(t)
	poller := polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{})
	m := ssa.NewResourceManager(c, poller, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"})
	m.SetOwnerLabels(objects, "shops", "flux-system")
	if _, err := m.ApplyAllStaged(t.Context(), objects, ssa.DefaultApplyOptions()); err != nil {
		t.Fatal(err)
	}
}

// parts are the Deployments, ReplicaSets, Services and Pods of a namespace by uid, with
// the restarts of containers.
func (n *realNode) parts(t *testing.T, namespace string) string {
	t.Helper()
	return n.kubectl(t, "get", "deployments,replicasets,services,pods", "--namespace", namespace, "--sort-by=.metadata.uid", "-o",
		`jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}`)
}

// ofShops matches the kinds of objects that shops have.
var ofShops = regexp.MustCompile(`^(deployments|services|replicasets|pods)$`)

// unmoved: since then nobody created or deleted a shop's object in a namespace.
func (n *realNode) unmoved(t *testing.T, namespace string, since time.Time) {
	t.Helper()
	seen := 0
	for _, r := range n.audited(t, func(r request) bool {
		return r.ObjectRef.Namespace == namespace && r.RequestReceivedTimestamp.After(since) && ofShops.MatchString(r.ObjectRef.Resource)
	}) {
		if seen++; slices.Contains([]string{"create", "delete", "deletecollection"}, r.Verb) {
			t.Errorf("%s sent %s %s", r.User.Username, r.Verb, r.RequestURI)
		}
	}
	if seen == 0 {
		t.Error("the audit log says nothing of the namespace: this test looks in the wrong place")
	}
}
