package admin

import (
	"strings"
	"testing"
)

// TestWait: a pipeline waits for a changed folder: until it serves all resources, its
// rollout stops, it does not load, or the time is over.
func TestWait(t *testing.T) {
	t.Parallel()
	s := lay(t, plain)
	s.web("a", "text: one")
	s.start(nil)
	wait := func(time string, code int, parts ...string) {
		t.Helper()
		a := s.as("admin", "status", s.name(), "--wait"+time, "--root", s.root, "--install", s.home+"/jacquard")
		for _, part := range append(parts, s.name()+": ") {
			if a.code != code || !strings.Contains(a.all(), part) {
				t.Errorf("exit %d, want %d and %q:\n%s", a.code, code, part, a.all())
			}
		}
	}
	wait("", 0, ": Serving\n")
	s.is("a", "Ready", "True", "")

	changed := strings.Replace(plain["map.yaml"], "\ndata:", "\ndata:\n  more: text", 1)
	s.write(map[string]string{"map.yaml": changed})
	wait("", 0, ": Serving\n")

	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "no key!: text", 1)})
	wait("", 1, ": Stopped: ", "jacquard approve "+s.name())

	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "more: {{ nonsense }}", 1)})
	wait("", 1, ": Broken: ")

	s.annotateCRD("jacquard.dev/paused", "true")
	s.write(map[string]string{"map.yaml": strings.Replace(changed, "more: text", "more: other", 1)})
	wait("=3s", 1, "after 3s its present folder does not serve all its resources yet")
}
