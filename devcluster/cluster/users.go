package cluster

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// ownUsers are the cluster's own users; each has a kubeconfig at that path in
// the folder.
var ownUsers = []user{
	{name: "kubeconfig", user: "admin", groups: []string{"system:masters"}},
	{name: "config/controller-manager", user: "system:kube-controller-manager"},
	{name: "config/scheduler", user: "system:kube-scheduler"},
	{name: "config/kwok", user: "devcluster:kwok", groups: []string{"system:masters"}},
	{name: "config/router", user: "devcluster:router", groups: []string{"system:masters"}},
}

// writeUsers writes the API server's file of tokens and everybody's
// kubeconfig.
func (s *state) writeUsers(extra []user) error {
	var tokens strings.Builder
	lines := csv.NewWriter(&tokens)
	for _, u := range ownUsers {
		if err := s.writeKubeconfig(u.name, u.user); err != nil {
			return err
		}
		_ = lines.Write(u.record(s)) // a strings.Builder takes everything
	}
	for _, u := range extra {
		if err := s.writeKubeconfig(u.name+".kubeconfig", u.user); err != nil {
			return err
		}
		_ = lines.Write(u.record(s))
	}
	lines.Flush()
	if err := os.WriteFile(s.path("config", "tokens.csv"), []byte(tokens.String()), 0o600); err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	return nil
}

// record is a user's line in the API server's --token-auth-file.
func (u user) record(s *state) []string {
	return []string{s.token(u.user), u.user, u.user, strings.Join(u.groups, ",")}
}

func (s *state) writeKubeconfig(name, user string) error {
	authority, err := os.ReadFile(s.path("certs", "apiserver.crt"))
	if err != nil {
		return fmt.Errorf("reading the API server's certificate: %w", err)
	}
	config := api.NewConfig()
	config.Clusters["devcluster"] = &api.Cluster{Server: s.server(), CertificateAuthorityData: authority}
	config.AuthInfos[user] = &api.AuthInfo{Token: s.token(user)}
	config.Contexts["devcluster"] = &api.Context{Cluster: "devcluster", AuthInfo: user, Namespace: "default"}
	config.CurrentContext = "devcluster"
	if err := clientcmd.WriteToFile(*config, s.path(filepath.FromSlash(name))); err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", name, err)
	}
	return nil
}

// server is the URL of the API server.
func (s *state) server() string {
	return fmt.Sprintf("https://127.0.0.1:%d", s.Ports["apiserver"])
}
