package kit

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/controller"
)

// home is the namespace of the operators' accounts.
const home = "operators"

// accounts is how the names of the operators' accounts begin.
const accounts = "system:serviceaccount:" + home + ":"

// IsOperator reports whether a user of the audit log is an operator.
func IsOperator(user string) bool {
	return user == User || strings.HasPrefix(user, accounts)
}

// An Access is how an operator reaches the cluster: as an account that has the
// rights which its folders need, and no others. When a folder changes, an admin
// applies the roles again; here, that is before the operator's next request.
type Access struct {
	// Config is the account's.
	Config *rest.Config
	// Subject is the account.
	Subject rbacv1.Subject

	t       testing.TB
	cluster *Cluster
	options controller.Options
	roots   []string

	mu      sync.Mutex
	serving bool
	denied  func(rbac.Rule, string) bool
	looked  time.Time
	seen    string
	roleKeeper
}

// Access makes an account without rights.
func (c *Cluster) Access(t testing.TB) *Access {
	t.Helper()
	ctx := context.Background()
	c.settled.Do(func() { c.Apply(t, "", somebody) })
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: home, GenerateName: "operator-"}}
	if err := c.Client.Create(ctx, account); err != nil {
		t.Fatal(err)
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](7200)}}
	if err := c.Client.SubResource("token").Create(ctx, account, token); err != nil {
		t.Fatal(err)
	}
	a := &Access{t: t, cluster: c, Subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: home, Name: account.Name}}
	a.Config = rest.AnonymousClientConfig(c.Config)
	a.Config.BearerToken = token.Status.Token
	a.Config.QPS, a.Config.Burst = c.Config.QPS, c.Config.Burst
	addJitter(a.Config, "JITTER_OPERATOR")
	a.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { return through{a, next} })
	t.Cleanup(a.withdrawRights)
	return a
}

// Serve gives the account the rights of an operator with these options and
// roots, now and whenever the roots change.
func (a *Access) Serve(options controller.Options, roots ...string) {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	options.Identity = cmp.Or(options.Identity, path.Join(options.Namespace, "jacquard"))
	a.options, a.roots, a.serving, a.seen = options, roots, true, ""
	a.updateRolesLocked()
}

// Deny takes from the account the verbs that lacks says, or, if it is nil, gives
// back what was taken: at the latest with the next request.
func (a *Access) Deny(lacks func(rule rbac.Rule, verb string) bool) {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied, a.seen = lacks, ""
	if a.serving {
		a.updateRolesLocked()
	}
}

// Roles are the roles that the account has now.
func (a *Access) Roles(t testing.TB) []rbac.Role {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	roles, err := a.computeRoles(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return roles
}

// User is the account as the audit log names it.
func (a *Access) User() string { return usernameOf(a.Subject) }

// Grant gives a user, once, the rights of an operator with these options and
// roots.
func (c *Cluster) Grant(t testing.TB, user string, options controller.Options, roots ...string) {
	t.Helper()
	a := &Access{t: t, cluster: c, Subject: rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}}
	t.Cleanup(a.withdrawRights)
	a.Serve(options, roots...)
}

// through looks after the rights before every request but those of Leases: the
// rights to these never change, and a leader that comes late to its own is none.
type through struct {
	access *Access
	next   http.RoundTripper
}

// RoundTrip sends a request.
func (w through) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.Path, "/leases/") {
		w.access.updateRoles()
	}
	return w.next.RoundTrip(r)
}

// updateRoles applies the roles again if something changed, as long as the account has any.
func (a *Access) updateRoles() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.serving {
		a.updateRolesLocked()
	}
}

// often is how often is looked whether something changed: more often than an
// operator takes a change for complete.
const often = 25 * time.Millisecond

// updateRolesLocked applies the roles again if something changed that they depend on. a.mu must be
// held.
func (a *Access) updateRolesLocked() {
	if time.Since(a.looked) < often && a.seen != "" {
		return
	}
	files := a.describeFolders()
	seen := fmt.Sprintln(a.cluster.changes.Load()) + files
	a.looked = time.Now()
	if seen == a.seen {
		return
	}
	if a.files != files {
		a.files, a.read = files, nil
	}
	if err := a.renewRoles(context.Background()); err != nil {
		a.t.Errorf("giving an operator its rights: %v", err)
		return
	}
	a.seen = seen
}

// describeFolders returns a text that is another one whenever a folder has changed.
func (a *Access) describeFolders() string {
	var b strings.Builder
	for _, part := range a.listFolders() {
		filepath.WalkDir(part, func(name string, d fs.DirEntry, err error) error { //nolint:errcheck // what goes meanwhile is seen next time
			if err != nil || d.IsDir() {
				return nil
			}
			if info, err := d.Info(); err == nil {
				fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	for _, m := range a.listConfigMaps(context.Background()) {
		fmt.Fprintln(&b, m.Name, m.ResourceVersion)
	}
	return b.String()
}

// listFolders returns the folders of the roots that an operator reads. A root may be a whole
// repository.
func (a *Access) listFolders() []string {
	var all []string
	for _, root := range a.roots {
		all = append(all, filepath.Join(root, "templates"), filepath.Join(root, "crds"))
	}
	return all
}
