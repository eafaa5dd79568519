package observe

// offspring keeps children: as much of them as is needed, found by the uid of
// their owner, whom every change concerns.
type offspring struct{ children *Children }

var _ keeper = offspring{}

func (o offspring) keep(l Live, need Need) Live { return l.cut(need) }

func (o offspring) groups(l Live) []group { return []group{{uid: l.owner().uid}} }

func (o offspring) concerned(l Live) []owner { return []owner{l.owner()} }

// everybody is nobody: Synced and Troubled stand for that.
func (o offspring) everybody() []owner { return nil }

func (o offspring) used() (Need, bool) { return Metadata, false }

func (o offspring) tell(whose owner) { o.children.options.Changed(whose.of, whose.uid) }

func (o offspring) synced(scope Scope) {
	if told := o.children.options.Synced; told != nil {
		told(scope.GroupVersionKind)
	}
}

func (o offspring) troubled(scope Scope) {
	if told := o.children.options.Troubled; told != nil {
		told(scope.GroupVersionKind)
	}
}
