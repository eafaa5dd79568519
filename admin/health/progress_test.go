package health

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestProgress: a kind is done once it is served by the present folder, and failed
// where nothing goes on by itself; of several operators the one counts that is furthest
// from done.
func TestProgress(t *testing.T) {
	present := &folder.Folder{Digest: "0123456789abcdef0123"}
	told := func(state verdict.State, message string) heartbeat.Kind {
		return heartbeat.Kind{Name: "webs.example.com", Digest: present.Digest[:16], State: state, Message: message}
	}
	old := told(verdict.Stopped, "not ready again")
	old.Digest = "another"
	done, failed := Progress{Done: true, Message: "Serving"}, Progress{Failed: true, Message: "Stopped: not ready again"}
	for name, c := range map[string]struct {
		told    heartbeat.Kind
		present *folder.Folder
		nobody  bool
		want    Progress
	}{
		"served":                       {told(verdict.Serving, ""), present, false, done},
		"served, its folder not known": {told(verdict.Serving, ""), nil, false, done},
		"forced":                       {told(verdict.Serving, "forced"), present, false, Progress{Done: true, Message: "Serving: forced"}},
		"stopped":                      {told(verdict.Stopped, "not ready again"), present, false, failed},
		"stopped before":               {old, present, false, Progress{Message: "the operator has not loaded the present folder yet"}},
		"broken":                       {told(verdict.Broken, "a.yaml:1"), present, false, Progress{Failed: true, Message: "Broken: a.yaml:1"}},
		"on its way":                   {told(verdict.RollingOut, "1 of 2"), present, false, Progress{Message: "RollingOut: 1 of 2"}},
		"without its CRD":              {told(verdict.NoCRD, ""), present, false, Progress{Message: "NoCRD"}},
		"paused":                       {told(verdict.Paused, ""), present, false, Progress{Message: "Paused"}},
		"without an operator":          {told(verdict.Serving, ""), present, true, Progress{Message: "its operator does not run"}},
	} {
		if got := progress(c.told, c.present, c.nobody); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	waits := Progress{Message: "RollingOut"}
	for _, c := range []struct {
		all  []Progress
		want Progress
	}{{[]Progress{done}, done}, {[]Progress{done, waits}, waits}, {[]Progress{waits, failed, done}, failed}} {
		if got := together(c.all); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.all, got, c.want)
		}
	}
}
