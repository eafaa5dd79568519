package scaffold

import (
	"cmp"
	"slices"
	"strconv"
)

// port is the number that a node says, 0 if it says none.
func port(n *node) int64 {
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
	number := port(n)
	leaf := field{name: one, note: "The port under which it is reached.", schema: wholeType(1, 65535)}
	if len(among) > 1 {
		name := ""
		for _, p := range among {
			if at(p, "port") == n || at(p, "containerPort") == n {
				name = text(p, "name")
			}
		}
		group = append(slices.Clone(group), one+"s")
		leaf.name = camel(cmp.Or(name, "port-"+strconv.FormatInt(number, 10)))
		leaf.note = ""
	}
	return w.one(n, group, leaf)
}

// liftService lifts the ports of a Service, and what else varies of it.
func (w *making) liftService(m *manifest) {
	about, group := m.about, m.group
	all := items(m.node, "spec", "ports")
	for _, p := range all {
		n := at(p, "port")
		number := port(n)
		front := fronted{about, number}
		if about == nil || w.fronts[front] == "" {
			w.fronts[front] = w.liftPort(n, group, "port", all)
		} else { // another Service of the same Pods
			w.tokens.set(n, w.fronts[front])
		}
		w.keepPort(m, number, w.fronts[front])
		if at(p, "targetPort") == nil {
			w.keepPort(about, number, w.fronts[front])
		}
		if node := at(p, "nodePort"); node != nil {
			w.one(node, group, field{name: camel(text(p, "name"), "nodePort"), note: "The port of every node; no two resources may have the same.",
				schema: wholeType(1, 65535), required: true})
		}
	}
	types := map[string]any{"type": "string", "enum": []any{"ClusterIP", "NodePort", "LoadBalancer"}}
	if kind := text(m.node, "spec", "type"); slices.Contains(types["enum"].([]any), any(kind)) {
		w.one(at(m.node, "spec", "type"), group, field{name: "serviceType", note: "How the Service is reached.", schema: types})
	}
}

// liftContainerPorts lifts the ports of a container, and lets its probes
// follow them. A port to which a Service leads without saying so is the same
// field as the Service's; others are not, for the image decides about them.
func (w *making) liftContainerPorts(m *manifest, c *node, group []string) {
	own := map[int64]string{}
	all := items(c, "ports")
	for _, p := range all {
		n := at(p, "containerPort")
		number := port(n)
		action := cmp.Or(own[number], w.portAction(m, number))
		if action != "" {
			w.tokens.set(n, action)
		} else {
			action = w.liftPort(n, group, w.containerPort(m), all)
		}
		own[number] = action
	}
	walk(c, nil, func(path []string, n *node) {
		if len(path) < 2 || path[len(path)-1] != "port" || !slices.Contains([]string{"httpGet", "tcpSocket", "grpc"}, path[len(path)-2]) {
			return
		}
		if action := own[port(n)]; action != "" {
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
		if action := w.portAction(b.service, port(b.port)); action != "" {
			w.tokens.set(b.port, action)
		}
	}
	for _, m := range w.all {
		if m.gvk.Kind != "NetworkPolicy" || m.about == nil {
			continue
		}
		for _, rule := range items(m.node, "spec", "ingress") {
			for _, p := range items(rule, "ports") {
				if action := w.portAction(m.about, port(at(p, "port"))); action != "" {
					w.tokens.set(at(p, "port"), action)
				}
			}
		}
	}
}

// liftTargets lets the targets of a Service follow the ports of the Pods.
func (w *making) liftTargets(m *manifest) {
	about := m.about
	for _, p := range items(m.node, "spec", "ports") {
		target := at(p, "targetPort")
		if action := w.portAction(about, port(target)); action != "" {
			w.tokens.set(target, action)
		}
	}
}
