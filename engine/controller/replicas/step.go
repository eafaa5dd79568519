package replicas

import (
	"maps"
	"slices"
)

// A view is what a replica knows when it decides.
type view struct {
	self string
	// division is the newest one that was seen, and pending a change of it that this
	// replica sent and of which it does not know yet whether it was made; or nil.
	division Division
	pending  *Division
	// alive are the replicas that have a Lease as far as was seen. gone are those of
	// which the server said that they have none.
	alive []string
	gone  map[string]bool
	// ending: this replica is to end, and serves nothing.
	ending bool
	// whole says of kinds whether the leader is to serve all of them; what it does not
	// say yet stays as it is.
	whole map[string]bool
	// byUID says of namespaced kinds whether the leader wants them divided by uid; what it
	// does not say yet stays as it is.
	byUID map[string]bool
	// bounds are what the leader wants; nil: those that there are.
	bounds []string
}

// staying are the replicas that live, with this one unless it ends.
func (v view) staying() []string {
	alive := slices.DeleteFunc(slices.Clone(v.alive), func(name string) bool { return name == v.self && v.ending })
	slices.Sort(alive)
	return slices.Compact(alive)
}

// share is what this replica serves now. What a change may have given away already is
// not in it.
func (v view) share() Share {
	if v.ending {
		return Share{}
	}
	s := v.shareOf(v.division)
	if v.pending == nil {
		return s
	}
	after := v.shareOf(*v.pending)
	s.Leads = s.Leads && after.Leads
	for i := range s.own {
		s.own[i] = s.own[i] && i < len(after.own) && after.own[i] && slices.Equal(s.bounds, after.bounds)
	}
	for kind, all := range after.whole {
		if !all {
			s.whole[kind] = false
		}
	}
	for kind, all := range s.whole {
		if _, still := after.whole[kind]; all && !still {
			delete(s.whole, kind)
		}
	}
	return s
}

func (v view) shareOf(d Division) Share {
	wanted := assign(len(d.Owners), v.staying())
	s := d.ShareOf(v.self)
	for i := range s.own {
		s.own[i] = s.own[i] && wanted[i] == v.self
	}
	for kind, yet := range d.Whole {
		if s.Leads && (len(yet) > 0 || v.divides(kind)) {
			delete(s.whole, kind)
		}
	}
	return s
}

// divides reports whether a kind is not to be served by the leader alone any more.
func (v view) divides(kind string) bool {
	whole, known := v.whole[kind]
	return known && !whole && !v.rekeys(kind)
}

// rekeys reports whether the leader wants a kind divided by something else. Nobody may serve
// a part of it meanwhile, since parts by one key and by another overlap.
func (v view) rekeys(kind string) bool {
	byUID, known := v.byUID[kind]
	return known && byUID != slices.Contains(v.division.ByUID, kind)
}

// unsure are replicas that are to serve something and have no Lease as far as was seen:
// the server is to be asked.
func (v view) unsure() []string {
	var all []string
	check := func(name string) {
		if name != "" && name != v.self && !slices.Contains(v.alive, name) && !v.gone[name] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	check(v.division.Leader)
	for _, owner := range v.division.Owners {
		check(owner)
	}
	for _, yet := range v.division.Whole {
		for _, name := range yet {
			check(name)
		}
	}
	return all
}

// change is what this replica writes in the place of the division; nil: nothing. drained:
// nothing is under way here that the share does not have.
func (v view) change(drained bool) *Division {
	d := v.division.clone()
	v.free(&d)
	if drained {
		v.give(&d)
	}
	if !v.ending {
		v.take(&d)
	}
	if d.String() == v.division.clone().String() {
		return nil
	}
	return &d
}

// free takes away what replicas had that are gone.
func (v view) free(d *Division) {
	if v.gone[d.Leader] {
		d.Leader = ""
	}
	for i, owner := range d.Owners {
		if v.gone[owner] {
			d.Owners[i] = ""
		}
	}
	for kind, yet := range d.Whole {
		d.Whole[kind] = slices.DeleteFunc(slices.Clone(yet), func(name string) bool { return v.gone[name] })
	}
}

// give gives away what this replica has and should not.
func (v view) give(d *Division) {
	wanted := assign(len(d.Owners), v.staying())
	for i, owner := range d.Owners {
		switch {
		case owner != v.self || wanted[i] == v.self && len(d.Next) == 0:
		case len(d.Next) == 0:
			d.Owners[i] = wanted[i]
		default:
			d.Owners[i] = ""
		}
	}
	for kind, yet := range d.Whole {
		d.Whole[kind] = slices.DeleteFunc(slices.Clone(yet), func(name string) bool { return name == v.self })
	}
	switch {
	case d.Leader != v.self:
	case v.ending:
		d.Leader = ""
	default:
		maps.DeleteFunc(d.Whole, func(kind string, _ []string) bool { return v.divides(kind) })
	}
}

// take takes what nobody has and this replica should have.
func (v view) take(d *Division) {
	if d.Leader == "" {
		d.Leader = v.self
	}
	if d.Leader == v.self {
		v.lead(d)
	}
	if len(d.Next) > 0 {
		return
	}
	for i, wanted := range assign(len(d.Owners), v.staying()) {
		if wanted == v.self && d.Owners[i] == "" {
			d.Owners[i] = v.self
		}
	}
}

// lead changes what is the leader's to change: other bounds, for which all buckets are
// given away first, and kinds that it is to serve alone.
func (v view) lead(d *Division) {
	if v.bounds != nil && !slices.Equal(v.bounds, d.Bounds) {
		d.Next = v.bounds
	}
	free := !slices.ContainsFunc(d.Owners, func(owner string) bool { return owner != "" })
	if len(d.Next) > 0 && free {
		d.Bounds, d.Owners, d.Next = d.Next, make([]string, len(d.Next)), nil
	}
	for kind, byUID := range v.byUID {
		if yet, is := v.division.Whole[kind]; !v.rekeys(kind) || !is || len(yet) > 0 || v.division.Leader != v.self {
			continue
		}
		d.ByUID = slices.DeleteFunc(d.ByUID, func(name string) bool { return name == kind })
		if byUID {
			d.ByUID = slices.Sorted(slices.Values(append(d.ByUID, kind)))
		}
	}
	for kind, whole := range v.whole {
		if _, is := d.Whole[kind]; (whole || v.rekeys(kind)) && !is && v.division.Leader == v.self {
			d.Whole[kind] = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(d.Owners))),
				func(name string) bool { return name == "" || name == v.self })
		}
	}
}
