package cluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// startLimit is how long a control plane may take to start on a busy machine.
const startLimit = 2 * time.Minute

var (
	environment *envtest.Environment
	admin       *rest.Config // nil without a control plane
)

func TestMain(m *testing.M) {
	log.SetLogger(klog.Background())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		return m.Run()
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		local, err := filepath.Abs("../../.bin")
		if err != nil {
			panic(err)
		}
		if _, err := os.Stat(local); err != nil {
			return m.Run()
		}
		assets = local
	}
	environment = &envtest.Environment{BinaryAssetsDirectory: assets, ControlPlaneStartTimeout: startLimit}
	cfg, err := environment.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a control plane:", err)
		return 1
	}
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue { // they mostly wait for the API server
		flag.Set("test.parallel", "8") //nolint:errcheck // it is a number
	}
	admin = cfg
	admin.QPS = -1
	defer func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
		}
	}()
	return m.Run()
}

// A cluster is the real API server as its administrator sees it.
type cluster struct {
	*testing.T
	dynamic.Interface
}

func realCluster(t *testing.T) cluster {
	t.Helper()
	if admin == nil {
		t.Skip("no control plane: -short, or KUBEBUILDER_ASSETS is not set and ../../.bin does not exist")
	}
	client, err := dynamic.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	return cluster{T: t, Interface: client}
}

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	resources  = map[string]schema.GroupVersionResource{
		"ConfigMap":                {Version: "v1", Resource: "configmaps"},
		"Secret":                   {Version: "v1", Resource: "secrets"},
		"Namespace":                {Version: "v1", Resource: "namespaces"},
		"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		"APIService":               {Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
		"ClusterRole":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		"ClusterRoleBinding":       {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	}
)

func (c cluster) of(obj *unstructured.Unstructured) dynamic.ResourceInterface {
	gvr := resources[obj.GetKind()]
	if obj.GetKind() == things.Kind { // each test has them in a group of its own
		gvr = obj.GroupVersionKind().GroupVersion().WithResource("things")
	}
	r := c.Resource(gvr)
	if obj.GetNamespace() == "" {
		return r
	}
	return r.Namespace(obj.GetNamespace())
}

// create creates an object and deletes it when the test ends.
func (c cluster) create(obj *unstructured.Unstructured) *unstructured.Unstructured {
	c.Helper()
	made, err := c.of(obj).Create(context.Background(), obj, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = c.of(obj).Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}) })
	return made
}

func (c cluster) update(obj *unstructured.Unstructured) *unstructured.Unstructured {
	c.Helper()
	made, err := c.of(obj).Update(context.Background(), obj, metav1.UpdateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return made
}

func (c cluster) remove(obj *unstructured.Unstructured) {
	c.Helper()
	if err := c.of(obj).Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
}

// child makes an object of a kind, owned by the custom resource uid.
func child(gvk schema.GroupVersionKind, name string, uid types.UID) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace("default")
	u.SetName(name)
	u.SetLabels(map[string]string{api.LabelOwnerUID: string(uid)})
	u.SetAnnotations(map[string]string{api.AnnotationOwner: ownerOf(uid).String()})
	return u
}

func ownerOf(uid types.UID) api.Owner {
	return api.Owner{Kind: "foos.example.com", Namespace: "default", Name: string(uid)}
}

// A witness records what Children tells.
type witness struct {
	mu       sync.Mutex
	changed  map[owner]int
	synced   map[schema.GroupVersionKind]int
	troubled map[schema.GroupVersionKind]int
}

func (w *witness) changes(uid types.UID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed[owner{of: ownerOf(uid), uid: uid}]
}

// observe starts Children over cfg, with discovery done once, until the test
// ends.
func observe(t *testing.T, cfg *rest.Config, namespaces ...string) (*Children, *witness, *Discovery) {
	t.Helper()
	return observeWith(t, cfg, func(o *ChildrenOptions) { o.Namespaces = namespaces })
}

// observeWith is observe with other options.
func observeWith(t *testing.T, cfg *rest.Config, change func(*ChildrenOptions)) (*Children, *witness, *Discovery) {
	t.Helper()
	children, w := startChildren(t, cfg, change)
	d := discover(t)
	children.Served(d.Served)
	return children, w, d
}

// startChildren starts Children over cfg that know of no kind yet, until the test ends.
func startChildren(t *testing.T, cfg *rest.Config, change func(*ChildrenOptions)) (*Children, *witness) {
	t.Helper()
	w := &witness{changed: map[owner]int{}, synced: map[schema.GroupVersionKind]int{}, troubled: map[schema.GroupVersionKind]int{}}
	options := ChildrenOptions{
		Changed: func(of api.Owner, uid types.UID) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changed[owner{of: of, uid: uid}]++
		},
		Synced:   func(gvk schema.GroupVersionKind) { w.mu.Lock(); defer w.mu.Unlock(); w.synced[gvk]++ },
		Troubled: func(gvk schema.GroupVersionKind) { w.mu.Lock(); defer w.mu.Unlock(); w.troubled[gvk]++ },
	}
	change(&options)
	children, err := NewChildren(cfg, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- children.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return children, w
}

func discover(t *testing.T) *Discovery {
	t.Helper()
	d := undiscovered(t)
	if err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// undiscovered is a Discovery that has not asked yet.
func undiscovered(t *testing.T) *Discovery {
	t.Helper()
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDiscovery(admin, client)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// eventually polls until the condition holds; the limit is generous.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 15000 { // a reflector waits up to a minute before it tries again, twice
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func synced(t *testing.T, c *Children, gvk schema.GroupVersionKind, need live.Need) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s synced with %s", gvk.Kind, need), func() bool {
		s := c.State(gvk)
		return s.Phase == live.Synced && s.Holds == need
	})
}

// names returns the names of the owner's children.
func names(t *testing.T, c *Children, gvk schema.GroupVersionKind, uid types.UID) []string {
	t.Helper()
	found, err := c.Of(gvk, uid)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, l := range found {
		all = append(all, l.Meta.GetName())
	}
	return all
}
