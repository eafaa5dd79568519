package machine

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Left returns the folder of the cluster whose link there is, "" if there is
// none. If nobody has the machine's lock, that cluster was killed.
func Left() string {
	link, err := netlink.LinkByName(Bridge)
	if err != nil {
		return ""
	}
	return link.Attrs().Alias
}

// checkFree fails if somebody else has the networks or the tables.
func checkFree() error {
	routes, err := listRoutes()
	if err != nil {
		return err
	}
	for _, wanted := range []string{Nodes, Pods, Services} {
		for _, route := range routes {
			if leadsInto(route.Dst, wanted) {
				return fmt.Errorf("this machine has a route to %s, and a cluster's network is %s", route.Dst, wanted)
			}
		}
	}
	found, err := proxyTables()
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("this machine has nftables of a kube-proxy (%s): it is a node of another Kubernetes, or was; `nft delete table NAME` removes one", strings.Join(found, ", "))
	}
	return nil
}

// listRoutes lists this machine's routes, again if some went while it did.
func listRoutes() ([]netlink.Route, error) {
	for {
		routes, err := netlink.RouteList(nil, unix.AF_INET)
		if errors.Is(err, netlink.ErrDumpInterrupted) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing routes: %w", err)
		}
		return routes, nil
	}
}

// leadsInto reports whether a route leads into a network. The default route does not count, since
// any other is more exact.
func leadsInto(route *net.IPNet, network string) bool {
	_, wanted, err := net.ParseCIDR(network)
	if err != nil || route == nil {
		return false
	}
	if ones, _ := route.Mask.Size(); ones == 0 {
		return false
	}
	return wanted.Contains(route.IP) || route.Contains(wanted.IP)
}

// proxyTables lists the tables that kube-proxy makes, and leaves.
func proxyTables() ([]string, error) {
	out, err := exec.Command("nft", "list", "tables").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("listing nftables: %w: %s", err, out)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		table := strings.TrimSpace(strings.TrimPrefix(line, "table "))
		if table == "ip kube-proxy" || table == "ip6 kube-proxy" {
			found = append(found, table)
		}
	}
	return found, nil
}

// addBridge makes the link with the addresses of all nodes.
func addBridge(dir string, nodes int) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = Bridge
	bridge := &netlink.Bridge{LinkAttrs: attributes}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("adding the bridge %s: %w", Bridge, err)
	}
	if err := netlink.LinkSetAlias(bridge, dir); err != nil {
		return fmt.Errorf("naming the bridge for %s: %w", dir, err)
	}
	for i := range max(nodes, 1) { // the first is the API server's
		address, err := netlink.ParseAddr(NodeAddress(i) + "/32")
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(bridge, address); err != nil {
			return fmt.Errorf("giving the bridge the address %s: %w", address, err)
		}
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("setting the bridge up: %w", err)
	}
	return routeServices(bridge)
}

// routeServices gives this machine a way to Services, where it has no way to
// everywhere: kube-proxy rewrites only what has one.
func routeServices(bridge netlink.Link) error {
	_, network, err := net.ParseCIDR(Services)
	if err != nil {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: bridge.Attrs().Index, Dst: network, Scope: unix.RT_SCOPE_LINK}); err != nil {
		return fmt.Errorf("adding a route to %s: %w", Services, err)
	}
	return nil
}

// removeLinks removes the bridge and the Pods' links, which the kernel takes
// its time to remove.
func removeLinks() error {
	routes, err := listRoutes()
	if err != nil {
		return err
	}
	for _, route := range routes {
		if !leadsInto(route.Dst, Pods) {
			continue
		}
		if link, err := netlink.LinkByIndex(route.LinkIndex); err == nil && link.Type() == "veth" {
			_ = netlink.LinkDel(link) // it may be going by itself
		}
	}
	link, err := netlink.LinkByName(Bridge)
	if _, gone := errors.AsType[netlink.LinkNotFoundError](err); gone {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for the bridge %s: %w", Bridge, err)
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("removing the bridge %s: %w", Bridge, err)
	}
	return nil
}

// removeTables removes kube-proxy's tables.
func removeTables() error {
	found, err := proxyTables()
	if err != nil {
		return err
	}
	for _, table := range found {
		if out, err := exec.Command("nft", append([]string{"delete", "table"}, strings.Fields(table)...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("removing the table %s: %w: %s", table, err, out)
		}
	}
	return nil
}
