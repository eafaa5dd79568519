package cluster

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

func (i *readPolicy) keep(l live.Object, _ live.Need) live.Object {
	if l.Body == nil || len(patchers(l)) > 0 {
		return l
	}
	if i.asked(l) {
		return plain(l)
	}
	return thin(l)
}

// asked reports whether a question is about an object.
func (i *readPolicy) asked(l live.Object) (is bool) {
	i.matching(l, func(*question) bool { is = true; return false })
	return is
}

func (i *readPolicy) groups(l live.Object) []group {
	var all []group
	if namespace := l.Meta.GetNamespace(); namespace != "" {
		all = append(all, group{namespace: namespace})
	}
	for _, uid := range patchers(l) {
		all = append(all, group{uid: uid})
	}
	return all
}

func (i *readPolicy) concerned(l live.Object) []owner {
	var all []owner
	tick := i.reads.tick.Add(1)
	i.matching(l, func(q *question) bool { all = append(all, q.woken(tick)...); return true })
	for _, uid := range patchers(l) {
		all = append(all, owner{uid: uid})
	}
	return all
}

func (i *readPolicy) everybody() []owner {
	var all []owner
	tick := i.reads.tick.Add(1)
	i.each(func(q *question) bool { all = append(all, q.woken(tick)...); return true })
	return all
}

func (i *readPolicy) used() (live.Need, bool) { return live.Body, len(i.named)+len(i.selecting) > 0 }

func (i *readPolicy) tell(whose owner) {
	if whose.uid != "" {
		i.reads.options.PatchChanged(whose.uid)
	} else {
		i.reads.options.Changed(whose.of)
	}
}

func (i *readPolicy) synced(scope Scope) {
	if told := i.reads.options.Synced; told != nil {
		told(scope)
	}
}

func (i *readPolicy) troubled(scope Scope) {
	if told := i.reads.options.Troubled; told != nil {
		told(scope)
	}
}

// patchers returns the custom resources whose patch manager has applied fields
// of an object. Only objects that are kept whole have any.
func patchers(l live.Object) []types.UID {
	metadata, _ := l.Body["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var all []types.UID
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		name, _ := e["manager"].(string)
		uid, ours := strings.CutPrefix(name, api.PatchManager(""))
		if ours && uid != "" && e["operation"] == string(metav1.ManagedFieldsOperationApply) {
			all = append(all, types.UID(uid))
		}
	}
	return all
}
