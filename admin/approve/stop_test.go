package approve

import (
	"errors"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// TestCompare: a pin is good for the folder, the reason and the deletions that it was
// made of, whatever becomes of single resources, and an error says which of them changed.
func TestCompare(t *testing.T) {
	record := rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "0011"}}, State: rollout.Stopped, Reason: rollout.Deletes, Stop: "0011/Deletes/abc", DeletionCount: 38, Total: 40, Moved: 3}
	pin := (&Stop{Record: record}).ID()
	for want, change := range map[string]func(*rollout.Record){
		"":                                      func(r *rollout.Record) { r.Moved, r.Ready, r.Total, r.Message = 5, 4, 41, "another text" },
		"the folder changed, from 0011 to 2233": func(r *rollout.Record) { r.Stop = "2233/Deletes/abc" },
		"it stopped for Deletes, and now for NotReady":                 func(r *rollout.Record) { r.Reason, r.Stop = rollout.NotReady, "0011/NotReady" },
		"it would delete other children than then: now 12":             func(r *rollout.Record) { r.Stop, r.DeletionCount = "0011/Deletes/def", 12 },
		"look at it again: jacquard approve webs.example.com":          func(r *rollout.Record) { r.Stop = "0011/Deletes/def" },
		"nothing was approved, since the stop is not the one that was": func(r *rollout.Record) { r.Stop = "2233/Deletes/abc" },
	} {
		now := record
		change(&now)
		err := (&Stop{Kind: "webs.example.com", Record: now}).Compare(pin)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (&Stop{Record: record}).Compare("nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense is not the ID of a stop") {
		t.Error(err)
	}
}

// TestPlan: a plan names every deletion, or how many are not named and why, and what an
// approval leads to.
func TestPlan(t *testing.T) {
	stop := &Stop{Kind: "webs.example.com", Record: rollout.Record{Revisions: []rollout.Revision{{Digest: "base"}, {Digest: "0011"}}, State: rollout.Stopped, Reason: rollout.Deletes,
		Message: "it would delete 3 of 8 children", DeletionCount: 3, Total: 4, Moved: 1}}
	all := []string{"Service shop/a", "Service shop/b", "ConfigMap shop/a"}
	const begin = "the rollout of webs.example.com to folder 0011 stopped (Deletes): it would delete 3 of 8 children\n" +
		"of 4 resources that change 1 are reached, 0 of them ready, 3 to go\n"
	for _, c := range []struct {
		reason   rollout.Reason
		approval rollout.Approval
		names    []string
		unread   error
		end      string
	}{
		{rollout.Deletes, rollout.Approval{}, all, nil, "deletes 1 ConfigMap:\n  shop/a\ndeletes 2 Service:\n  shop/a\n  shop/b\n" +
			"It may delete the children that are listed, and goes on; it stops again before it deletes others.\n"},
		{rollout.Deletes, rollout.Approval{Only: []string{"shop/a"}}, all[:1], errors.New("forbidden"), "deletes 1 Service:\n  shop/a\n" +
			"and 2 more that cannot be listed: forbidden\n" +
			"The folder serves only shop/a, and may delete what is listed of these; the rollout remains stopped.\n"},
		{rollout.Deletes, rollout.Approval{}, all[:1], errors.New("forbidden"), "deletes 1 Service:\n  shop/a\n" +
			"and 2 more that cannot be listed: forbidden\n" +
			"It may delete all of these, also those that cannot be listed, and goes on; it stops again before it deletes others.\n"},
		{rollout.NotReady, rollout.Approval{AllWaves: true}, nil, nil,
			"It risks 3 resources that it has not reached yet: no wave stops for NotReady any more.\n"},
		{rollout.NotReady, rollout.Approval{}, nil, nil, "It no longer waits for the resources that stopped it, and goes on with the next wave; " +
			"it stops again if others have problems.\n"},
		{rollout.Paused, rollout.Approval{}, nil, nil, "It goes on with the next wave, and may stop again.\n"},
	} {
		stop.Record.Reason = c.reason
		want := strings.Replace(begin, "Deletes", string(c.reason), 1) + c.end
		if got := stop.Plan(c.approval, c.names, c.unread); got != want {
			t.Errorf("it is\n%swant\n%s", got, want)
		}
	}
}
