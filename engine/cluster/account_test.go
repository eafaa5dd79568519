package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// TestReadsAsAnAccount: an account sees what it may, whatever the operator may.
func TestReadsAsAnAccount(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	in.create(object(here, "a", nil))
	account := here + "/apps"
	user := "system:serviceaccount:" + here + ":apps"
	scope := Scope{GroupVersionKind: configMaps, Namespace: here, As: account}
	reads, a := read(t, admin)
	q := lookup(scope, here, "a")
	refused := func() bool {
		_, err := reads.Lookup(q)
		var rule *live.RuleError
		return errors.As(err, &rule) && slices.Equal(rule.Verbs, []string{"list", "watch"}) && strings.Contains(err.Error(), user)
	}
	eventually(t, "refused", refused)
	reads.Record(reader("one"), []Query{q})
	told := a.told("one")
	if own := ask(t, reads, lookup(everyConfigMap, here, "a")); called(own) != "a" {
		t.Errorf("the operator itself found %v", own)
	}

	_, binding := in.allow(user, "configmaps", "list", "watch")
	known(t, reads, scope)
	if found := ask(t, reads, q); called(found) != "a" {
		t.Errorf("found %v", found)
	}
	eventually(t, "told", func() bool { return a.told("one") > told })

	told = a.told("one")
	in.remove(binding)
	eventually(t, "the look is refused", func() bool { return reads.Resync(t.Context(), scope) != nil })
	eventually(t, "refused again", refused)
	eventually(t, "told", func() bool { return a.told("one") > told })
	binding.SetResourceVersion("")
	binding.SetUID("")
	in.create(binding)
	known(t, reads, scope)
	if diff := cmp.Diff(1, len(reads.accounts)); diff != "" {
		t.Error(diff)
	}

	reads.Record(reader("one"), nil)
	reads.patience = -time.Hour
	reads.Trim()
	if len(reads.accounts) != 0 || reads.State(scope).Phase == live.Synced {
		t.Error("the account is still used")
	}
	bad := Scope{GroupVersionKind: configMaps, As: "no-slash"}
	if _, err := reads.Lookup(lookup(bad, here, "a")); err == nil || !strings.Contains(err.Error(), "no-slash") {
		t.Errorf("error %v", err)
	}
}

// TestFetchNamesTheMissingRule: the rights to list and watch are all that it takes to fetch one
// object, and without them the error names the rule.
func TestFetchNamesTheMissingRule(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	in.create(object(here, "a", nil))
	in.create(object(here, "b", nil))
	user := "reads-" + here
	role, _ := in.allow(user, "configmaps", "list", "watch")
	reads, a := read(t, as(t, user))
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	known(t, reads, everyConfigMap)
	reads.Trim()
	if found := ask(t, reads, lookup(everyConfigMap, here, "b")); called(found) != "b" {
		t.Errorf("found %v", found)
	}
	rights := role.Object["rules"].([]any)[0].(map[string]any)
	rights["verbs"] = []any{"watch"}
	in.update(role)
	eventually(t, "the list is refused", func() bool { return reads.Resync(t.Context(), everyConfigMap) != nil })
	q := lookup(everyConfigMap, here, "a")
	var rule *live.RuleError
	eventually(t, "refused", func() bool { _, err := reads.Lookup(q); return errors.As(err, &rule) })
	if !slices.Contains(rule.Verbs, "list") {
		t.Errorf("the rule has verbs %v", rule.Verbs)
	}
	reads.Record(reader("one"), []Query{q})
	told := a.told("one")
	rights["verbs"] = []any{"list", "watch"}
	role.SetResourceVersion("")
	in.update(role)
	eventually(t, "told", func() bool { return a.told("one") > told })
	if found := ask(t, reads, q); called(found) != "a" {
		t.Errorf("found %v", found)
	}
}

// TestReadsOneByName: a role may allow one object by its name.
func TestReadsOneByName(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	in.create(object(here, "a", nil))
	user := "named-" + here
	role, _ := in.allow(user, "configmaps", "list", "watch")
	rule := role.Object["rules"].([]any)[0].(map[string]any)
	rule["resourceNames"] = []any{"a"}
	in.update(role)
	reads, a := read(t, as(t, user))
	one, two := Scope{GroupVersionKind: configMaps, Namespace: here, Name: "a"}, Scope{GroupVersionKind: configMaps, Namespace: here,
		Name: "b"}
	q := lookup(one, here, "a")
	if found := ask(t, reads, q); called(found) != "a" {
		t.Errorf("found %v", found)
	}
	reads.Record(reader("one"), []Query{q})
	eventually(t, "the missing rule", func() bool {
		_, err := reads.Lookup(lookup(two, here, "b"))
		return err != nil && strings.Contains(err.Error(), `resourceNames: ["b"]`)
	})
	told := a.told("one")
	in.remove(object(here, "a", nil))
	eventually(t, "told", func() bool { return a.told("one") > told })
	if found := ask(t, reads, q); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}
