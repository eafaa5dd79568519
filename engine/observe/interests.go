package observe

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

func (i *interests) keep(l Live, _ Need) Live {
	if l.Body == nil || len(patchers(l)) > 0 {
		return l
	}
	wanted := !i.trimmed
	if !wanted {
		i.matching(l, func(*question) bool { wanted = true; return false })
	}
	if wanted {
		return plain(l)
	}
	return thin(l)
}

func (i *interests) groups(l Live) []group {
	var all []group
	if namespace := l.Meta.GetNamespace(); namespace != "" {
		all = append(all, group{namespace: namespace})
	}
	for _, uid := range patchers(l) {
		all = append(all, group{uid: uid})
	}
	return all
}

func (i *interests) concerned(l Live) []owner {
	var all []owner
	tick := i.reads.tick.Add(1)
	i.matching(l, func(q *question) bool { all = append(all, q.woken(tick)...); return true })
	for _, uid := range patchers(l) {
		all = append(all, owner{uid: uid})
	}
	return all
}

func (i *interests) everybody() []owner {
	var all []owner
	tick := i.reads.tick.Add(1)
	i.each(func(q *question) bool { all = append(all, q.woken(tick)...); return true })
	return all
}

func (i *interests) used() (Need, bool) { return Body, len(i.named)+len(i.selecting) > 0 }

func (i *interests) tell(whose owner) {
	if whose.uid != "" {
		i.reads.options.PatchChanged(whose.uid)
	} else {
		i.reads.options.Changed(whose.of)
	}
}

func (i *interests) synced(scope Scope) {
	if told := i.reads.options.Synced; told != nil {
		told(scope)
	}
}

func (i *interests) troubled(scope Scope) {
	if told := i.reads.options.Troubled; told != nil {
		told(scope)
	}
}

// patchers returns the custom resources whose patch manager has applied fields
// of an object. Only objects that are kept whole have any.
func patchers(l Live) []types.UID {
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
