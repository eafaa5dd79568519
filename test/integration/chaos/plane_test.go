package chaos

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// A site is a kind Web of a test's own, with a namespace, a root and an operator
// that outlives whatever becomes of the control plane.
type site struct {
	*testing.T
	group, namespace, dir string
}

// serve makes the kind and starts its operator. Its rights are given once: while
// the API server is down nobody could look after them.
func serve(t *testing.T, group string, files map[string]string) *site {
	t.Helper()
	s := &site{t, group, cluster.Namespace(t), t.TempDir()}
	s.write(files)
	cluster.Apply(t, "", strings.ReplaceAll(kit.WebCRD, "GROUP", group))
	cluster.Served(t, group+"/v1", "Web")
	cluster.Grant(t, kit.User, controller.Options{Identity: "test" + s.dir}, s.dir)
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(cluster.Dir, "operator.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = -1
	cluster.Run(t, func(o *controller.Options) { o.Config = cfg }, s.dir)
	return s
}

func (s *site) write(files map[string]string) {
	s.Helper()
	placed := map[string]string{}
	for name, text := range files {
		placed["templates/webs."+s.group+"/"+name] = text
	}
	kit.Write(s, s.dir, placed)
}

func (s *site) web(name, text string) {
	s.Helper()
	cluster.Apply(s, s.namespace, fmt.Sprintf("apiVersion: %s/v1\nkind: Web\nmetadata: {name: %s}\nspec: {text: %s}\n", s.group, name, text))
}

func (s *site) ready(names ...string) {
	s.Helper()
	for _, name := range names {
		kit.Eventually(s, name+" is Ready", func() error { return cluster.Ready(s.group+"/v1", "Web", s.namespace, name) })
	}
}

// children are the children of a kind, by name.
func (s *site) children(apiVersion, kind string) (map[string]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	if err := cluster.Client.List(context.Background(), list, client.InNamespace(s.namespace),
		client.HasLabels{api.LabelOwnerUID}); err != nil {
		return nil, err
	}
	all := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		all[list.Items[i].GetName()] = &list.Items[i]
	}
	return all, nil
}

// say waits until the children of a kind have just these texts in a field, by
// name.
func (s *site) say(apiVersion, kind, field string, want map[string]string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("the children say %v", want), func() error {
		children, err := s.children(apiVersion, kind)
		if err != nil {
			return err
		}
		got := map[string]string{}
		for name, o := range children {
			got[name], _, _ = unstructured.NestedString(o.Object, field, "text")
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("they say %v", got)
		}
		return nil
	})
}

// rests waits until nothing has been written for a stretch.
func (s *site) rests() {
	s.Helper()
	kit.Eventually(s, "nothing is written any more", func() error {
		mark := cluster.Mark(s)
		time.Sleep(stretch)
		if writes := kit.Writes(cluster.Requests(s, mark)); len(writes) > 0 {
			return fmt.Errorf("%d writes, the first %v", len(writes), writes[0])
		}
		return nil
	})
}

// send sends a signal to a part of the control plane, and says which process got
// it.
func send(t *testing.T, part string, signal syscall.Signal) (pid int) {
	t.Helper()
	pid, err := cluster.Process(part)
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		t.Fatalf("sending %v to %s: %v", signal, part, err)
	}
	return pid
}

// kill kills parts of the control plane, and waits until others are in their
// place and serve.
func kill(t *testing.T, parts ...string) {
	t.Helper()
	killed := map[string]int{}
	for _, part := range parts {
		killed[part] = send(t, part, syscall.SIGKILL)
	}
	kit.Eventually(t, "the control plane is back", func() error {
		for part, was := range killed {
			if pid, err := cluster.Process(part); err != nil || pid == was {
				return fmt.Errorf("%s is not: %w", part, err)
			}
		}
		_, err := cluster.Get("v1", "Namespace", "", "default")
		return err
	})
}

// keep copies what etcd has, as it is at one moment.
func keep(t *testing.T) (backup string) {
	t.Helper()
	backup = filepath.Join(t.TempDir(), "etcd")
	send(t, "etcd", syscall.SIGSTOP)
	defer send(t, "etcd", syscall.SIGCONT)
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(cluster.Dir, "etcd"))); err != nil {
		t.Fatal(err)
	}
	return backup
}

// restore has the control plane begin again with what etcd had.
func restore(t *testing.T, backup string) {
	t.Helper()
	parts := []string{"apiserver", "controller-manager", "etcd"}
	for _, part := range parts {
		send(t, part, syscall.SIGSTOP)
	}
	data := filepath.Join(cluster.Dir, "etcd")
	if err := os.Rename(data, data+".lost"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, data); err != nil {
		t.Fatal(err)
	}
	kill(t, parts...)
}
