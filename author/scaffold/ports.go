package scaffold

import (
	"cmp"
	"slices"
	"strconv"
)

// portNumber returns the number in a node, or 0 if it has none.
func portNumber(n *node) int64 {
	if n == nil || n.Tag != "!!int" {
		return 0
	}
	number, _ := strconv.ParseInt(n.Value, 10, 32)
	return number
}

// portAction is the action that gives a port of a workload, "" if none does.
func (w *making) portAction(m *manifest, number int64) string { return w.ports[m][number] }

func (w *making) keepPort(m *manifest, number int64, action string) {
	if m == nil || action == "" {
		return
	}
	if w.ports[m] == nil {
		w.ports[m] = map[int64]string{}
	}
	w.ports[m][number] = action
}

// A fronted is a port under which Services offer a workload.
type fronted struct {
	workload *manifest
	port     int64
}

// liftPort lifts one of some ports: under the name one if it is the only one,
// else in a group many under its own name.
func (w *making) liftPort(n *node, group []string, one string, among []*node) string {
	number := portNumber(n)
	leaf := field{name: one, note: "The port under which it is reached.", schema: wholeType(1, 65535)}
	if len(among) > 1 {
		name := ""
		for _, p := range among {
			if findNode(p, "port") == n || findNode(p, "containerPort") == n {
				name = textAt(p, "name")
			}
		}
		group = append(slices.Clone(group), one+"s")
		leaf.name = camelCase(cmp.Or(name, "port-"+strconv.FormatInt(number, 10)))
		leaf.note = ""
	}
	return w.liftValue(n, group, leaf)
}

// liftService lifts the ports of a Service, and what else varies of it.
func (w *making) liftService(m *manifest) {
	about, group := m.about, m.group
	all := listItems(m.node, "spec", "ports")
	for _, p := range all {
		n := findNode(p, "port")
		number := portNumber(n)
		front := fronted{about, number}
		if about == nil || w.fronts[front] == "" {
			w.fronts[front] = w.liftPort(n, group, "port", all)
		} else { // another Service of the same Pods
			w.tokens.set(n, w.fronts[front])
		}
		w.keepPort(m, number, w.fronts[front])
		if findNode(p, "targetPort") == nil {
			w.keepPort(about, number, w.fronts[front])
		}
		if node := findNode(p, "nodePort"); node != nil {
			w.liftValue(node, group, field{name: camelCase(textAt(p, "name"), "nodePort"),
				note:   "The port of every node; no two resources may have the same.",
				schema: wholeType(1, 65535), required: true})
		}
	}
	types := map[string]any{"type": "string", "enum": []any{"ClusterIP", "NodePort", "LoadBalancer"}}
	if kind := textAt(m.node, "spec", "type"); slices.Contains(types["enum"].([]any), any(kind)) {
		w.liftValue(findNode(m.node, "spec", "type"), group, field{name: "serviceType", note: "How the Service is reached.", schema: types})
	}
}

// liftContainerPorts lifts the ports of a container, and lets its probes
// follow them. A port to which a Service leads without saying so is the same
// field as the Service's; others are not, for the image decides about them.
func (w *making) liftContainerPorts(m *manifest, c *node, group []string) {
	own := map[int64]string{}
	all := listItems(c, "ports")
	for _, p := range all {
		n := findNode(p, "containerPort")
		number := portNumber(n)
		action := cmp.Or(own[number], w.portAction(m, number))
		if action != "" {
			w.tokens.set(n, action)
		} else {
			action = w.liftPort(n, group, w.containerPort(m), all)
		}
		own[number] = action
	}
	walkNodes(c, nil, func(path []string, n *node) {
		if len(path) < 2 || path[len(path)-1] != "port" || !slices.Contains([]string{"httpGet", "tcpSocket", "grpc"}, path[len(path)-2]) {
			return
		}
		if action := own[portNumber(n)]; action != "" {
			w.tokens.set(n, action)
		}
	})
	for number, action := range own {
		w.keepPort(m, number, action)
	}
}

// containerPort is what a port of a container is called: beside a Service,
// whose port is the one that people mean, not just port.
func (w *making) containerPort(m *manifest) string {
	for _, other := range w.all {
		if other.gvk.Kind == "Service" && other != m && other.about == m {
			return "containerPort"
		}
	}
	return "port"
}

// liftBackends lets what leads to a Service follow its ports, and policies
// those of the Pods.
func (w *making) liftBackends() {
	for _, b := range w.backends {
		if action := w.portAction(b.service, portNumber(b.port)); action != "" {
			w.tokens.set(b.port, action)
		}
	}
	for _, m := range w.all {
		if m.gvk.Kind != "NetworkPolicy" || m.about == nil {
			continue
		}
		for _, rule := range listItems(m.node, "spec", "ingress") {
			for _, p := range listItems(rule, "ports") {
				if action := w.portAction(m.about, portNumber(findNode(p, "port"))); action != "" {
					w.tokens.set(findNode(p, "port"), action)
				}
			}
		}
	}
}

// liftTargets lets the targets of a Service follow the ports of the Pods.
func (w *making) liftTargets(m *manifest) {
	about := m.about
	for _, p := range listItems(m.node, "spec", "ports") {
		target := findNode(p, "targetPort")
		if action := w.portAction(about, portNumber(target)); action != "" {
			w.tokens.set(target, action)
		}
	}
}
