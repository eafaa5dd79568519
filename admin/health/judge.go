package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// A finding is something that is unhealthy or unknown.
type finding struct {
	state verdict.State
	text  string
}

type findings []finding

func (f *findings) add(state verdict.State, format string, args ...any) {
	*f = append(*f, finding{state, fmt.Sprintf(format, args...)})
}

// decideVerdict decides whether everything is healthy, and says why not.
func (l *look) decideVerdict() {
	var all findings
	switch {
	case len(l.Installations)+len(l.Starting) > 0:
	case l.LeasesUnread != "":
		all.add(verdict.OperatorUnreadable, "it is not known whether an operator runs, since its Leases could not be read: %s", l.LeasesUnread)
	case len(l.Claimless) > 0:
		all.add(verdict.NoOperator, "no operator that holds a claim on a CRD was found: none serves a kind")
	default:
		all.add(verdict.NoOperator, "no operator was found")
	}
	for _, name := range l.Starting {
		namespace, _, _ := strings.Cut(name, "/")
		all.add(verdict.OperatorStarting, "%s has not reported yet: it is starting; if that lasts, see kubectl --namespace %s get pods", name, namespace)
	}
	for _, c := range l.Forsaken {
		state := verdict.ClaimAbandoned
		if !strings.Contains(c.Identity, "/") {
			state = verdict.OperatorUnreadable // operators of that time did not report
		}
		all.add(state, "%s was served by %s: %s", c.CRD, c.Identity, c.Message)
	}
	for _, i := range l.Installations {
		for _, f := range i.listFindings() {
			if l.claimsUnread {
				f.state = verdict.OperatorUnreadable
			}
			all.add(f.state, "%s: %s", i.Identity, f.text)
		}
	}
	states := slices.Clone(l.unread)
	for _, f := range all {
		states = append(states, f.state)
		if f.state.Verdict() == verdict.Unhealthy {
			l.Problems = append(l.Problems, f.text)
		} else {
			l.Unknown = append(l.Unknown, f.text)
		}
	}
	for _, i := range l.Installations {
		for _, k := range i.Kinds {
			k.setMeaning(i.Leader.isDead())
		}
	}
	l.State = worstState(states...).Verdict()
	l.Headline = l.composeHeadline(states)
}

// composeHeadline says what was looked at, and how it is.
func (l *look) composeHeadline(states []verdict.State) string {
	var parts []string
	switch l.State {
	case verdict.Healthy:
		parts = append(parts, "everything is healthy")
	case verdict.Unhealthy:
		parts = append(parts, formatCount(len(l.Problems), "problem"))
	case verdict.Unknown:
		parts = append(parts, "it is not known whether everything is healthy")
	}
	kinds, resources := 0, 0
	shown := map[verdict.Meaning]int{}
	for _, i := range l.Installations {
		for _, k := range i.Kinds {
			kinds++
			if k.Resources != nil {
				resources += k.Resources.Total
			}
			if m := worstState(k.listStates(i.Leader.isDead())...).Meaning(); m.Verdict == verdict.Unknown || m.Severity == verdict.Info {
				shown[m]++
			}
		}
	}
	if l.State == verdict.Healthy {
		parts = append(parts, fmt.Sprintf("%s with %s", formatCount(kinds, "kind"), formatCount(resources, "resource")))
	}
	for _, m := range slices.SortedFunc(maps.Keys(shown), func(a, b verdict.Meaning) int { return cmp.Compare(a.Word, b.Word) }) {
		parts = append(parts, formatCount(shown[m], "kind")+" "+m.Word)
	}
	if slices.Contains(states, verdict.OperatorUnreadable) {
		parts = append(parts, "the operators could not be read")
	}
	if l.narrowed > 0 && l.narrowed < kinds {
		parts = append(parts, fmt.Sprintf("%s looked at in namespace %s only", formatCount(l.narrowed, "kind"), l.Fallback))
	}
	return l.describeScope(kinds) + ": " + strings.Join(parts, "; ")
}

// describeScope says where resources were looked at.
func (l *look) describeScope(kinds int) string {
	text := "in all namespaces"
	switch {
	case l.Namespace != "":
		text = "in namespace " + l.Namespace
	case l.narrowed > 0 && l.narrowed == kinds:
		text = "in namespace " + l.Fallback
	}
	switch {
	case l.Identity != "":
		text += ", of " + l.Identity
	case l.OperatorNamespace != "":
		text += ", of operators in namespace " + l.OperatorNamespace
	}
	return text
}
