package watched

import (
	"errors"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestNoFalseAlarm: what is as it should be is logged as no error: an optional
// kind that the cluster does not serve, and an operator that is told to end.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	k := newThing(t, "calm.example.com", t.TempDir(), configMap+`---
{{- if hasAPI "calm.example.org/v1" "Optional" }}
apiVersion: calm.example.org/v1
kind: Optional
metadata:
  name: {{ .metadata.name }}
{{- end }}
`)
	after := logged.length()
	home := cluster.Namespace(t)
	op := cluster.Run(t, func(o *controller.Options) {
		install(o)
		o.LeaderElectionNamespace, o.Namespace, o.Identity = home, home, home+"/jacquard"
	}, k.root)
	k.served()
	k.apply("a", "good")
	k.ready("a")
	kit.Eventually(t, "the optional kind is told of", func() error {
		if len(logged.lines(t, after, "calm.example.org/v1, Kind=Optional")) == 0 {
			return errors.New("nothing is said of it")
		}
		return nil
	})
	op.Stop(t)
	for _, about := range []string{"calm.example.org", "leader", "stop sequence"} {
		for _, line := range logged.lines(t, after, about) {
			if line["level"] == "error" {
				t.Errorf("it is logged as an error: %v", line)
			}
		}
	}
}
