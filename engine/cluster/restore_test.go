package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A plane is a control plane of its own, whose parts can be stopped.
type plane struct {
	*testing.T
	environment *envtest.Environment
	cfg         *rest.Config
}

func ownPlane(t *testing.T) plane {
	t.Helper()
	realCluster(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("secret,root,root,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &envtest.Environment{BinaryAssetsDirectory: environment.BinaryAssetsDirectory, ControlPlaneStartTimeout: startLimit,
		ControlPlaneStopTimeout: time.Second}
	e.ControlPlane.Etcd = &envtest.Etcd{DataDir: t.TempDir()}
	server := e.ControlPlane.GetAPIServer()
	server.CertDir = t.TempDir()
	// A client certificate of envtest does not outlive a restart; a token does.
	server.Configure().Append("token-auth-file", tokens)
	cfg, err := e.Start()
	if err != nil {
		t.Fatal(err)
	}
	p := plane{T: t, environment: e, cfg: &rest.Config{
		Host: cfg.Host, BearerToken: "secret", QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: cfg.CAData}}}
	t.Cleanup(p.stop)
	return p
}

// stop ends both parts. A part that takes its time, as an API server with open
// watches does, is killed, which is reported as an error.
func (p plane) stop() {
	p.Helper()
	if err := p.environment.ControlPlane.APIServer.Stop(); err != nil {
		p.Log(err)
	}
	p.silent(strings.TrimPrefix(p.cfg.Host, "https://"))
	if err := p.environment.ControlPlane.Etcd.Stop(); err != nil {
		p.Log(err)
	}
	p.silent(p.environment.ControlPlane.Etcd.URL.Host)
}

// silent waits until nobody listens there.
func (p plane) silent(address string) {
	p.Helper()
	eventually(p.T, "nobody listens at "+address, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
}

func (p plane) start() {
	p.Helper()
	if err := p.environment.ControlPlane.Etcd.Start(); err != nil {
		p.Fatal(err)
	}
	if err := p.environment.ControlPlane.APIServer.Start(); err != nil {
		p.Fatal(err)
	}
}

// TestEtcdRestored: the control plane restarts, and then wakes up in its own past: resource
// versions go back.
func TestEtcdRestored(t *testing.T) {
	t.Parallel()
	p := ownPlane(t)
	client, err := dynamic.NewForConfig(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	in := cluster{T: t, Interface: client}
	children, _, _ := observe(t, p.cfg)
	in.create(child(configMaps, "old", "past-1"))
	children.Want("k", wants{configMaps: live.Metadata, secrets: live.Body})
	synced(t, children, configMaps, live.Metadata)
	reads, a := read(t, p.cfg)
	old := lookup(everyConfigMap, "default", "old")
	ask(t, reads, old)
	reads.Record(reader("old"), []Query{old})
	reads.Trim()
	informer := informed(t, client)
	p.stop()
	backup := filepath.Join(t.TempDir(), "etcd")
	if err := os.CopyFS(backup, os.DirFS(p.environment.ControlPlane.Etcd.DataDir)); err != nil {
		t.Fatal(err)
	}
	p.start()
	for _, name := range []string{"late-a", "late-b", "late-c", "late-d"} {
		in.create(child(configMaps, name, "past-1"))
	}
	in.remove(child(configMaps, "old", "past-1"))
	eventually(t, "watched again after the restart", func() bool { return len(names(t, children, configMaps, "past-1")) == 4 })

	eventually(t, "gone for its reader too", func() bool { found, err := reads.Lookup(old); return err == nil && found == nil })
	told := a.told("old")
	for range 1000 { // versions are ahead, so far that the restored ones do not come there again
		one := in.create(object("default", "passing", nil))
		in.remove(one)
	}

	p.stop()
	p.environment.ControlPlane.Etcd.DataDir = backup
	p.start()
	eventually(t, "the past", func() bool {
		found, err := children.Of(configMaps, "past-1")
		return err == nil && len(found) == 1 && found[0].Meta.GetName() == "old"
	})
	eventually(t, "its reader told", func() bool { return a.told("old") > told })
	eventually(t, "its body", func() bool { found, err := reads.Lookup(old); return err == nil && found != nil && found.Body != nil })
	made := in.create(child(configMaps, "new", "past-1"))
	children.RecordWrite(configMaps, made)
	if diff := cmp.Diff([]string{"new", "old"}, names(t, children, configMaps, "past-1")); diff != "" {
		t.Error(diff)
	}
	eventually(t, "the watch delivers in the new history", func() bool { return pending(children) == 0 })
	if diff := cmp.Diff([]string{"new", "old"}, names(t, children, configMaps, "past-1")); diff != "" {
		t.Error(diff)
	}
	eventually(t, "an informer has it", func() bool { return slices.Equal(informer.GetStore().ListKeys(), []string{"default/new"}) })
}

// informed is what an informer that heeds restores knows of the ConfigMaps that
// are called new.
func informed(t *testing.T, client dynamic.Interface) cache.SharedIndexInformer {
	t.Helper()
	all := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	informer := cache.NewSharedIndexInformer(heedRestores(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.FieldSelector = "metadata.name=new"
			return all.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.FieldSelector = "metadata.name=new"
			return all.Watch(ctx, opts)
		},
	}), &unstructured.Unstructured{}, 0, nil)
	go informer.RunWithContext(t.Context())
	eventually(t, "the informer has listed", informer.HasSynced)
	return informer
}
