package kinds

// testGenericdaemon: on every node, or on the labelled ones.
func testGenericdaemon(s *site) {
	s.apply("Genericdaemon", "d", "image: one")
	s.ready("Genericdaemon", "d")
	old := s.has("DaemonSet", "d", "metadata.labels",
		map[string]any{"app": "genericdaemon", "controller": "d", "jacquard.dev/owner-uid": s.get("Genericdaemon", "d").GetUID()},
		"spec.template.spec.containers.0.name", "daemon", "spec.template.spec.containers.0.image", "one", "spec.template.spec.nodeSelector", nil)
	s.has("Genericdaemon", "d", "status.installed", 3)
	s.apply("Genericdaemon", "d", "image: one, label: "+s.ns)
	s.has("DaemonSet", "d", "spec.template.spec.nodeSelector", map[string]any{"daemon": s.ns})
	s.has("Genericdaemon", "d", "status.installed", 0)
	s.ready("Genericdaemon", "d")
	s.kubectl("label", "node", "node-2", "daemon="+s.ns)
	s.has("Genericdaemon", "d", "status.installed", 1)
	s.kubectl("label", "node", "node-2", "daemon-")
	s.has("Genericdaemon", "d", "status.installed", 0)
	s.apply("Genericdaemon", "d", "image: two")
	now := s.has("DaemonSet", "d", "spec.template.spec.nodeSelector", nil, "spec.template.spec.containers.0.image", "two")
	s.has("Genericdaemon", "d", "status.installed", 3)
	s.ready("Genericdaemon", "d")
	if now.GetUID() != old.GetUID() {
		s.Error("the DaemonSet was recreated")
	}
	s.rests(now)
	cluster.Delete(s, versions["Genericdaemon"], "Genericdaemon", s.ns, "d")
	s.gone("DaemonSet", "d")
}
