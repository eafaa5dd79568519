package admin

import (
	"strings"
	"testing"
)

// TestQuiet: where no field gets another value it is said whose they are then.
func TestQuiet(t *testing.T) {
	s := build(t, map[string]string{"deployment.yaml": everything["deployment.yaml"]})
	s.apply(s.web("replicas: 1"))
	s.run()
	for change, want := range map[[2]string]string{
		{"  replicas: {{ .spec.replicas }}\n",
			""}: "every field keeps its value; no longer ours: spec.replicas",
		{".name }}}\n",
			".name }}, annotations: {jacquard.dev/initial-fields: spec.replicas}}\n"}: "every field keeps its value; only set initially: spec.replicas",
		{"spec:\n", "spec:\n  paused: false\n"}: "every field keeps its value; ours from now on: spec.paused",
	} {
		text := strings.Replace(everything["deployment.yaml"], change[0], change[1], 1)
		root := s.changed(map[string]string{"deployment.yaml": text})
		a := s.as(looker, "diff", "--root", root, "webs."+s.group+"/a")
		s.expect(a, 1, "Web "+s.namespace+"/a (webs."+s.group+"): children: 1 changed", want)
	}
	s.expect(s.diff(1, s.file(s.named("b", "replicas: 1"))), 1,
		"Web "+s.namespace+"/b (webs."+s.group+"): itself created; children: 1 created")
}
