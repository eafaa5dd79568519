package kinds

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// aggregated are the ClusterRoles that take up those of the kinds, as the chart
// has them, and the bindings of all that is not taken up.
const aggregated = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {jacquard.dev/aggregate-to: NAME}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-cluster}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {jacquard.dev/aggregate-to: NAME-cluster}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME-cluster}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME-cluster}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME-base}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME-base}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME-base, namespace: HOME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME-base}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
`

const everywhere = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
`

const there = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME, namespace: THERE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: NAME-events, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME-events}
subjects: [{kind: ServiceAccount, namespace: operators, name: ACCOUNT}]
`

// An installed is an operator with a namespace, an account and rights of its
// own, as the chart installs it, and one kind that comes and goes.
type installed struct {
	home, name, account string
	limited             string
	access              *kit.Access
	mark                int64
	packedKind
}

// install installs an operator without kinds; limited to one namespace, if that
// is not "".
func install(t *testing.T, k packedKind, namespace string) *installed {
	t.Helper()
	in := prepare(t, k, namespace)
	in.run(t)
	return in
}

// prepare makes the namespace, the account and the rights of an operator.
func prepare(t *testing.T, k packedKind, namespace string) *installed {
	t.Helper()
	access := cluster.Access(t)
	in := &installed{home: cluster.Namespace(t), access: access, account: access.Subject.Name, limited: namespace, packedKind: k}
	in.name = "release-" + in.home
	bindings := everywhere
	if namespace != "" {
		bindings = there
	}
	roles := in.pack(t, "--include", "base") + "---\n" +
		strings.NewReplacer("NAME", in.name, "ACCOUNT", in.account, "HOME", in.home, "THERE", namespace).Replace(aggregated+"---\n"+bindings)
	in.kubectl(t, roles, "apply", "-f", "-")
	t.Cleanup(func() { in.kubectl(t, roles, "delete", "--ignore-not-found", "-f", "-") })
	user := access.User() // the API server takes roles up a moment after they were written
	cluster.Allowed(t, user, authorizationv1.ResourceAttributes{Verb: "list", Group: "apiextensions.k8s.io",
		Resource: "customresourcedefinitions"})
	cluster.Allowed(t, user, authorizationv1.ResourceAttributes{Verb: "list", Resource: "configmaps", Namespace: in.home})
	in.mark = cluster.Mark(t)
	return in
}

// run runs the operator, over these roots too.
func (in *installed) run(t *testing.T, roots ...string) *kit.Operator {
	t.Helper()
	return cluster.Run(t, func(o *controller.Options) {
		o.Config, o.Namespace, o.Identity, o.Buckets = in.access.Config, in.home, in.name, 16
		if in.limited != "" {
			o.Namespaces = []string{in.limited}
		}
	}, roots...)
}

// pack runs `jacquard pack` for this installation.
func (in *installed) pack(t *testing.T, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	args = append([]string{"pack", "--root", in.root, "--installation", in.home + "/" + in.name, "--service-account", "operators/" + in.account},
		args...)
	if code := cli.Main(args, strings.NewReader(""), &out, &trouble); code != 0 {
		t.Fatalf("jacquard pack exits with %d: %s", code, trouble.String())
	}
	return out.String()
}

// kubectl runs kubectl as an admin.
func (in *installed) kubectl(t *testing.T, stdin string, args ...string) {
	t.Helper()
	if out, err := in.tryKubectl(stdin, args...); err != nil {
		t.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
}

func (*installed) tryKubectl(stdin string, args ...string) (string, error) {
	root, err := kit.Root()
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(context.Background(), filepath.Join(root, ".bin", "kubectl"),
		append([]string{"--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}, args...)...)
	c.Stdin = strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	return string(out), err
}

// requests are those of the operator since mark.
func (in *installed) requests(t *testing.T, mark int64) []kit.Request {
	t.Helper()
	return slices.DeleteFunc(cluster.AllRequests(t, mark), func(r kit.Request) bool { return !strings.HasSuffix(r.User, ":"+in.account) })
}

// A packedKind is a root with one kind Web.
type packedKind struct{ group, root string }

func newKind(t *testing.T, group string, files map[string]string) packedKind {
	t.Helper()
	k := packedKind{group: group, root: t.TempDir()}
	kit.Write(t, k.root, map[string]string{"crds/" + k.crd() + ".yaml": strings.ReplaceAll(kit.WebCRD, "GROUP", group)})
	k.write(t, files)
	return k
}

func (k packedKind) crd() string { return "webs." + k.group }

func (k packedKind) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		kit.Write(t, k.root, map[string]string{"templates/" + k.crd() + "/" + name: text})
	}
}

// make makes a resource.
func (k packedKind) make(t *testing.T, namespace, name string) {
	t.Helper()
	cluster.Served(t, k.group+"/v1", "Web")
	cluster.Apply(t, namespace, fmt.Sprintf("apiVersion: %s/v1\nkind: Web\nmetadata: {name: %s}\nspec: {text: hello}\n", k.group, name))
}

func (k packedKind) ready(t *testing.T, namespace, name string) {
	t.Helper()
	kit.Eventually(t, name+" is ready", func() error { return cluster.Ready(k.group+"/v1", "Web", namespace, name) })
}

func (k packedKind) gone(t *testing.T) {
	t.Helper()
	kit.Eventually(t, "the CRD is gone", func() error {
		return cluster.Gone("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.crd())
	})
}

// lacks says that the operator still may do something everywhere.
func (in *installed) lacks(verb, resource string) error {
	out, err := in.tryKubectl("", "auth", "can-i", verb, resource, "--all-namespaces", "--as", "system:serviceaccount:operators:"+in.account)
	if err == nil {
		return fmt.Errorf("it may %s %s: %s", verb, resource, out)
	}
	return nil
}
