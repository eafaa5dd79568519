package cluster

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// ownUsers are the cluster's own users; each has a kubeconfig at that path in
// the folder.
func (c *cluster) ownUsers() []user {
	users := []user{
		{name: "kubeconfig", user: "admin", groups: []string{"system:masters"}},
		{name: "config/controller-manager", user: "system:kube-controller-manager"},
		{name: "config/scheduler", user: "system:kube-scheduler"},
		{name: "config/router", user: "devcluster:router", groups: []string{"system:masters"}},
	}
	if c.node != realNodes {
		return append(users, user{name: "config/kwok", user: "devcluster:kwok", groups: []string{"system:masters"}})
	}
	for i := range c.nodes {
		users = append(users, user{name: "config/" + nodeName(i), user: "system:node:" + nodeName(i), groups: []string{"system:nodes"}})
	}
	return append(users, user{name: "config/kube-proxy", user: "system:kube-proxy"})
}

// writeUsers writes the API server's file of tokens and everybody's
// kubeconfig.
func (c *cluster) writeUsers() error {
	var tokens strings.Builder
	lines := csv.NewWriter(&tokens)
	for _, u := range c.ownUsers() {
		if err := c.writeKubeconfig(u.name, u.user); err != nil {
			return err
		}
		_ = lines.Write(u.tokenRecord(c.state)) // a strings.Builder takes everything
	}
	for _, u := range c.users {
		if err := c.writeKubeconfig(u.name+".kubeconfig", u.user); err != nil {
			return err
		}
		_ = lines.Write(u.tokenRecord(c.state))
	}
	lines.Flush()
	if err := os.WriteFile(c.pathTo("config", "tokens.csv"), []byte(tokens.String()), 0o600); err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	return nil
}

// tokenRecord returns a user's line in the API server's --token-auth-file.
func (u user) tokenRecord(s *state) []string {
	return []string{s.tokenOf(u.user), u.user, u.user, strings.Join(u.groups, ",")}
}

func (s *state) writeKubeconfig(name, user string) error {
	authority, err := os.ReadFile(s.pathTo("certs", "apiserver.crt"))
	if err != nil {
		return fmt.Errorf("reading the API server's certificate: %w", err)
	}
	config := api.NewConfig()
	config.Clusters["devcluster"] = &api.Cluster{Server: s.serverURL(), CertificateAuthorityData: authority}
	config.AuthInfos[user] = &api.AuthInfo{Token: s.tokenOf(user)}
	config.Contexts["devcluster"] = &api.Context{Cluster: "devcluster", AuthInfo: user, Namespace: "default"}
	config.CurrentContext = "devcluster"
	if err := clientcmd.WriteToFile(*config, s.pathTo(filepath.FromSlash(name))); err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", name, err)
	}
	return nil
}

// serverURL returns the URL of the API server.
func (s *state) serverURL() string {
	return fmt.Sprintf("https://%s:%d", s.serverAddress(), s.Ports["apiserver"])
}

// serverAddress returns where the API server listens. Real kubelets want it where Pods can reach
// it.
func (s *state) serverAddress() string {
	if s.Node == realNodes {
		return machine.NodeAddress(0)
	}
	return "127.0.0.1"
}
