package cluster

import (
	"fmt"
	"strings"

	"k8s.io/client-go/transport"
)

// impersonateAccount returns clients that impersonate a service account, namespace/name, over the same
// connections. The server adds the groups that every service account is in.
func (c clients) impersonateAccount(account string) (clients, error) {
	namespace, name, found := strings.Cut(account, "/")
	if !found || namespace == "" || name == "" {
		return clients{}, fmt.Errorf("%q is not namespace/name", account)
	}
	user := transport.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	client := *c.http
	client.Transport = transport.NewImpersonatingRoundTripper(user, c.http.Transport)
	return newClients(c.cfg, &client)
}
