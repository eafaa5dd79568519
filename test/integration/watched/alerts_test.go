package watched

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/verdict"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A situation is what alerts warn of: one kind, and how it is made and mended.
type situation struct {
	group, template string
	alerts          []string
	make            func(s *site, k *thing)
	// mend makes the alerts end; nil where their look back is too long to wait.
	mend func(s *site, k *thing)
}

// A site is an operator that a Prometheus scrapes.
type site struct {
	home string
	op   *kit.Operator
	gate gate
}

// A gate holds the writes of ConfigMaps in the namespaces that it is closed for, and
// breaks those in the namespaces that it is broken for.
type gate struct{ closed, broken sync.Map }

func (g *gate) close(ns string) { g.closed.Store(ns, true) }
func (g *gate) open(ns string)  { g.closed.Delete(ns) }

// held is a transport behind the gate.
type held struct {
	gate *gate
	next http.RoundTripper
}

func (h held) RoundTrip(r *http.Request) (*http.Response, error) {
	parts := strings.Split(r.URL.Path, "/") // /api/v1/namespaces/NS/configmaps/NAME
	if len(parts) > 5 && parts[5] == "configmaps" && r.Method == http.MethodPatch {
		if _, broken := h.gate.broken.Load(parts[4]); broken {
			return nil, errors.New("the connection is cut")
		}
	}
	for len(parts) > 5 && parts[5] == "configmaps" && r.Method == http.MethodPatch && r.Context().Err() == nil {
		if _, closed := h.gate.closed.Load(parts[4]); !closed {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return h.next.RoundTrip(r)
}

// TestAlerts makes what each alert of the chart warns of, and a real Prometheus
// says so; most end when it is mended. It runs alone, since some metrics are of the process.
func TestAlerts(t *testing.T) {
	s, root := &site{home: cluster.Namespace(t)}, t.TempDir()
	kinds := map[string]*thing{}
	for name, c := range situations {
		kinds[name] = newThing(t, c.group+".example.com", root, c.template)
	}
	lease(t, s.home, "somebody")
	at := address(t)
	s.op = cluster.Run(t, func(o *controller.Options) {
		o.InstallCRDs, o.MetricsSecure, o.MetricsAddress = true, true, at
		o.LeaderElectionNamespace, o.Namespace, o.Identity = s.home, s.home, s.home+"/jacquard"
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { return held{&s.gate, next} })
	}, root, repository(t))
	p := startPrometheus(t, at, token(t, s.home, "prometheus", true))
	p.fires(t, "JacquardNoLeader", "")
	lease(t, s.home, "")
	p.ends(t, "JacquardNoLeader", "")
	for name := range situations {
		kinds[name].served()
		kinds[name].apply("well", "ClusterIP")
	}
	for _, k := range kinds {
		k.ready("well")
	}
	examples(t)
	p.ends(t, "JacquardDown", "")
	p.calm(t)
	s.op.Access.Deny(func(rule rbac.Rule, verb string) bool {
		return rule.Resource == "serviceaccounts" && (verb == "create" || verb == "patch") || rule.Resource == "resourcequotas"
	})
	t.Run("Situations", func(t *testing.T) {
		for name, c := range situations {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				k := *kinds[name]
				k.T = t
				c.happens(s, &k, p)
			})
		}
	})
	p.draws(t)
	s.op.Stop(t)
	p.fires(t, "JacquardDown", "")
	for _, name := range p.names {
		if !p.fired[name] && !slices.Contains(ofProcesses, name) {
			t.Errorf("%s never fired", name)
		}
	}
}

// exact are groups of situations that no other alert is about.
var exact = []string{"quota", "podsecurity", "denied", "forbidden", "paused", "rolledback", "panics"}

// happens makes the situation, and mends it.
func (c situation) happens(s *site, k *thing, p *prometheus) {
	c.make(s, k)
	for _, name := range c.alerts {
		p.fires(k.T, name, about(name, k))
	}
	if slices.Contains(exact, c.group) {
		p.firesOnly(k.T, k.name(), c.alerts)
	}
	if c.mend == nil {
		return
	}
	c.mend(s, k)
	for _, name := range c.alerts {
		p.ends(k.T, name, about(name, k))
	}
}

// about is the kind that an alert tells of.
func about(name string, k *thing) string {
	switch name {
	case "JacquardReadOnly":
		return ""
	case "JacquardCRDMissing":
		return absent
	}
	return k.name()
}

// lease makes somebody hold the operators' Lease, or nobody.
func lease(t *testing.T, ns, holder string) {
	t.Helper()
	cluster.Apply(t, ns, fmt.Sprintf(`apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: %s}
spec: {holderIdentity: %q, leaseDurationSeconds: 3600, acquireTime: %[3]q, renewTime: %[3]q}
`, api.Lease("jacquard"), holder, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")))
}

// annotates sets an annotation of the kind's CRD.
func annotates(key, value string) func(*site, *thing) {
	return func(_ *site, k *thing) { k.annotate(k.crd(), key, value) }
}

func writes(template string) func(*site, *thing) {
	return func(_ *site, k *thing) { k.write(template) }
}

func applies(name, text string) func(*site, *thing) {
	return func(_ *site, k *thing) { k.apply(name, text) }
}

// absent is a kind whose CRD is not there.
const absent = "absents.example.com"

// ofProcesses are alerts about processes that end, about several, about their roots,
// about hours, and about states of kinds and watches that last.
// TestRules of engine/controller/metrics makes them fire with the series of such.
var ofProcesses = []string{"JacquardRestarts", "JacquardMemoryHigh", "JacquardReplicasMissing", "JacquardBucketsUnowned",
	"JacquardRootMissing", "JacquardRolloutStuck", "JacquardServingFailed", "JacquardWatchesFailing"}

var situations = map[string]situation{
	"Broken": {"broken", configMap, []string{"JacquardFolderInvalid"}, writes("{{ .spec.nonsense }}\n"), writes(configMap)},
	"Second": {"second", configMap, []string{"JacquardDuplicateFolder"}, func(s *site, k *thing) {
		cluster.Apply(k, s.home,
			fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: second, labels: {%s: %s}}, data: {child.yaml: %q}}", api.LabelKind,
				k.name(), configMap))
	}, func(s *site, k *thing) { cluster.Delete(k, "v1", "ConfigMap", s.home, "second") }},
	"Elsewhere": {"elsewhere", configMap, []string{"JacquardKindServedElsewhere"}, annotates(api.AnnotationOperator, "other/jacquard"),
		annotates(api.AnnotationOperator, "")},
	"Deleted": {"deleted", configMap, []string{"JacquardCRDDeleted"}, func(_ *site, k *thing) { k.deleteCRD() },
		func(_ *site, k *thing) { cluster.Apply(k, "", kit.ThingCRD(k.group)) }},
	"Rollout": {"rollout", configMap, []string{"JacquardRolloutStopped"},
		writes(strings.Replace(configMap, `"bad"`, `"ClusterIP"`, 1)), writes(configMap)},
	"Lasts": {"lasts", service, []string{"JacquardRolloutRunsLong"},
		writes(strings.Replace(service, "{{ .spec.text }}", "LoadBalancer", 1)), writes(service)},
	"Stalled":  {"stalled", configMap, []string{"JacquardResourcesStalled"}, applies("well", "bad"), applies("well", "good")},
	"NotReady": {"notready", service, []string{"JacquardResourcesNotReady"}, applies("well", "LoadBalancer"), applies("well", "ClusterIP")},
	"Paused": {"paused", configMap, []string{"JacquardKindPaused"}, annotates(api.AnnotationPaused, "true"),
		annotates(api.AnnotationPaused, "")},
	"Absent": {"absent", configMap, []string{"JacquardCRDMissing"}, func(_ *site, k *thing) {
		kit.Write(k, k.root, map[string]string{"templates/" + absent + "/child.yaml": configMap})
	}, func(_ *site, k *thing) {
		if err := os.RemoveAll(filepath.Join(k.root, "templates", absent)); err != nil {
			k.Fatal(err)
		}
	}},
	"ReadOnly": {"readonly", configMap, []string{"JacquardReadOnly"},
		func(*site, *thing) { metrics.ReadOnly(true) }, func(*site, *thing) { metrics.ReadOnly(false) }},
	"RolledBack": {"rolledback", configMap, []string{"JacquardRolledBack"},
		func(_ *site, k *thing) { metrics.KindStates(nil, rolledBack(k)) }, func(_ *site, k *thing) { metrics.KindStates(rolledBack(k), nil) }},
	"Panics":    {"panics", configMap, []string{"JacquardPanics"}, func(_ *site, k *thing) { metrics.Kind(k.name()).Panicked() }, nil},
	"Forbidden": {"forbidden", account, []string{"JacquardPermissionsMissing"}, applySix, nil},
	"Cut": {"cut", configMap, []string{"JacquardReconcileErrors"}, func(s *site, k *thing) {
		s.gate.broken.Store(k.ns, true)
		applySix(s, k)
	}, nil},
	"Quota": {"quota", configMap, []string{"JacquardQuotaExceeded"}, func(s *site, k *thing) {
		cluster.Apply(k, k.ns, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/configmaps: "0"}}}`)
		applySix(s, k)
	}, nil},
	"PodSecurity": {"podsecurity", bare, []string{"JacquardPodSecurityViolated"}, func(s *site, k *thing) {
		cluster.Apply(k, "", fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {pod-security.kubernetes.io/enforce: restricted}}}`, k.ns))
		applySix(s, k)
	}, nil},
	"Denied": {"denied", bare, []string{"JacquardDeniedByPolicy"}, applies("a", "ghost"), nil},
	"Unlistable": {"unlistable", configMap, []string{"JacquardPermissionsMissing"},
		writes(strings.Replace(account, "ServiceAccount", "ResourceQuota", 1)), nil},
	"Contended": {"contended", configMap, []string{"JacquardFieldsContended"}, contend, nil},
	// More than the alert allows: TestLagOfSlowWrite of engine/reconcile measures such a lag.
	"Slow": {"slow", configMap, []string{"JacquardSlow"},
		func(_ *site, k *thing) { metrics.Kind(k.name()).Applied(11 * time.Second) }, nil},
	"Backlog": {"backlog", configMap, []string{"JacquardQueueBacklog"}, pile, open},
}

// applySix wants children that nothing lets the operator make.
func applySix(_ *site, k *thing) {
	for i := range 6 {
		k.apply(fmt.Sprint("a", i), "x")
	}
}

// contend takes a field again and again, until the test ends.
func contend(_ *site, k *thing) {
	ctx, stop := context.WithCancel(context.Background())
	k.Cleanup(stop)
	o := k.object("v1", "ConfigMap", "well")
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			text := fmt.Appendf(nil, `{"data":{"text":"theirs%d"}}`, i)
			cluster.Client.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, text), client.FieldOwner("rival")) //nolint:errcheck // it is tried again
			time.Sleep(100 * time.Millisecond)
		}
	}()
}

// pile holds the writes of more resources than may wait.
func pile(s *site, k *thing) {
	s.gate.close(k.ns)
	for i := range 110 {
		k.apply(fmt.Sprint("a", i), "x")
	}
}

func open(s *site, k *thing) { s.gate.open(k.ns) }

const account = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .metadata.name }}
`

// bare is a Pod that no level of Pod Security but the lowest one allows.
const bare = `apiVersion: v1
kind: Pod
metadata:
  name: {{ .metadata.name }}
spec:
  {{- if eq .spec.text "ghost" }}
  serviceAccountName: ghost
  {{- end }}
  containers:
  - name: c
    image: example.com/pause
`

const service = `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
spec:
  type: {{ .spec.text }}
  ports:
  - port: 80
`

// rolledBack is the state of a kind that is rolled back.
func rolledBack(k *thing) map[string]verdict.State {
	return map[string]verdict.State{k.name(): verdict.RolledBack}
}
