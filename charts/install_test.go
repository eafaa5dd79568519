package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestInstallServes: dist/install.yaml is applied as people do, the operator
// runs as its Deployment says, under its account. The samples, and then the kind
// that is none, are served without a restart, and the examples become Ready
// without one refused request.
func TestInstallServes(t *testing.T) {
	t.Parallel()
	text := string(read(t, "../dist/install.yaml"))
	first, more := kit.Parse(t, text), rendered(t, combinations(t)["exporter"])
	tried := rendered(t, samples(t))
	cluster.Apply(t, "", text)
	aggregated(t, first)
	operate(t, deployed(t, first))
	served := map[string]bool{}
	for _, objects := range [][]*unstructured.Unstructured{first, tried, more} {
		// Rights that come after a folder are waited for, and asked for in vain
		// meanwhile: here they come first.
		for _, o := range ofKind(objects, "ClusterRole") {
			apply(t, o)
		}
		aggregated(t, objects)
		for _, o := range objects {
			if o.GetKind() != "Deployment" {
				apply(t, o)
			}
		}
		for _, crd := range ofKind(objects, "CustomResourceDefinition") {
			if !served[crd.GetName()] {
				example(t, crd)
			}
			served[crd.GetName()] = true
		}
	}
	if len(served) != len(shipped(t)) {
		t.Errorf("only %d kinds were tried", len(served))
	}
	for _, line := range refused(t, "system:serviceaccount:jacquard:jacquard") {
		t.Errorf("the operator may not: %s", line)
	}
}

// aggregated waits until the ClusterRoles that take up others have done so.
func aggregated(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, name := range []string{"jacquard", "jacquard-cluster"} {
		want := map[string]bool{}
		for _, r := range rules(t, objects, rbacv1.RoleRef{Kind: "ClusterRole", Name: name}, "") {
			put(want, "", r)
		}
		kit.Eventually(t, "ClusterRole "+name+" takes up the others", func() error {
			o, err := cluster.Get(rbacv1.SchemeGroupVersion.String(), "ClusterRole", "", name)
			if err != nil {
				return err
			}
			var role rbacv1.ClusterRole
			into(t, o, &role)
			got := map[string]bool{}
			for _, r := range role.Rules {
				put(got, "", r)
			}
			for line := range want {
				if !got[line] {
					return fmt.Errorf("it lacks %s", line)
				}
			}
			return nil
		})
	}
}

func deployed(t *testing.T, objects []*unstructured.Unstructured) corev1.PodSpec {
	t.Helper()
	var d appsv1.Deployment
	into(t, named(t, objects, "Deployment", "jacquard"), &d)
	return d.Spec.Template.Spec
}

func apply(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	cluster.Apply(t, o.GetNamespace(), string(text))
}

// example applies the example of a kind and waits until it is Ready.
func example(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	text := string(read(t, "../examples/"+crd.GetName()+".yaml"))
	for _, o := range kit.Parse(t, text) {
		if o.GetKind() == kind {
			cluster.Served(t, o.GetAPIVersion(), kind)
		}
	}
	cluster.Apply(t, "default", text)
	for _, o := range kit.Parse(t, text) {
		if o.GetKind() != kind {
			continue
		}
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = "default"
		}
		kit.Eventually(t, o.GetKind()+" is ready", func() error {
			return cluster.Ready(o.GetAPIVersion(), kind, namespace, o.GetName())
		})
	}
}

// operate runs the operator as a Pod would, but for its addresses, and waits
// until it is ready. The test's own program is the operator.
func operate(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "jacquard")
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	probes := free(t)
	var args []string
	for _, arg := range pod.Containers[0].Args {
		switch flag, _, _ := strings.Cut(arg, "="); flag {
		case "--health-probe-bind-address":
			arg = flag + "=" + probes
		case "--metrics-bind-address":
			arg = flag + "=" + free(t)
		}
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", "jacquard"))
	}
	var log bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stderr = t.TempDir(), &log
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(t, pod.ServiceAccountName))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the operator ended: %v\n%s", err, log.String())
		}
	})
	kit.Eventually(t, "the operator is ready", func() error {
		answer, err := http.Get("http://" + probes + "/readyz")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", answer.Status)
		}
		return nil
	})
}

// free is an address on which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// kubeconfig is a file with the access of an account.
func kubeconfig(t *testing.T, account string) string {
	t.Helper()
	token := &authenticationv1.TokenRequest{}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "jacquard", Name: account}}
	if err := cluster.Client.SubResource("token").Create(context.Background(), of, token); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"it": {Server: cluster.Config.Host, CertificateAuthorityData: cluster.Config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"it": {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it"}},
		CurrentContext: "it",
	}
	if err := clientcmd.WriteToFile(config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// refused are the requests of a user that the audit log says were forbidden, but
// for those that name a kind which admission does not know yet: that passes by
// itself. That the user sent none is an error.
func refused(t *testing.T, user string) []string {
	t.Helper()
	var lines []string
	n := 0
	for line := range bytes.Lines(read(t, filepath.Join(cluster.Dir, "audit.log"))) {
		var event struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ResponseStatus   struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(line, &event); err != nil || event.User.Username != user {
			continue
		}
		n++
		if event.ResponseStatus.Code == http.StatusForbidden && !strings.Contains(event.ResponseStatus.Message, "cannot find RESTMapping") {
			lines = append(lines, event.Verb+" "+event.RequestURI)
		}
	}
	if n == 0 {
		t.Errorf("%s sent nothing: this test looks in the wrong place", user)
	}
	return lines
}
