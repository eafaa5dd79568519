package replicas

import (
	"maps"
	"slices"
)

// A view is everything that a replica decides by.
type view struct {
	self string
	// division is the newest one that was seen. pending is a change of it that this replica
	// sent and has no answer to, or nil.
	division Division
	pending  *Division
	// alive are the replicas that have a Lease, as far as was seen, with whether it confirms
	// the division. gone are those of which the API server said that they have none.
	alive map[string]bool
	gone  map[string]bool
	// isEnding is true if this replica is about to end. It serves nothing.
	isEnding bool
	// exclusive is what this replica has decided of kinds, for when it leads: whether the
	// leader is to serve all their resources. Other kinds stay as they are.
	exclusive map[string]bool
	// buckets is how many there should be, once nobody owns any.
	buckets int
}

// assignedOwners returns the replica that should own each bucket. Only replicas that own one already,
// or that confirm the division, get buckets.
func (v view) assignedOwners(n int) []string {
	var candidates []string
	if !v.isEnding {
		candidates = append(candidates, v.self)
	}
	for name, confirms := range v.alive {
		if name != v.self && (confirms || slices.Contains(v.division.Owners, name)) {
			candidates = append(candidates, name)
		}
	}
	slices.Sort(candidates)
	return assignBuckets(n, candidates)
}

// presentShare returns what this replica serves now. What a change may already have given away is
// not in it.
func (v view) presentShare() Share {
	if v.isEnding {
		return Share{}
	}
	s := v.shareOf(v.division)
	if v.pending == nil {
		return s
	}
	after := v.shareOf(*v.pending)
	s.Leads = s.Leads && after.Leads
	for i := range s.owns {
		s.owns[i] = s.owns[i] && i < len(after.owns) && after.owns[i]
	}
	for kind, all := range after.exclusive {
		if !all {
			s.exclusive[kind] = false
		}
	}
	maps.DeleteFunc(s.exclusive, func(kind string, all bool) bool {
		_, still := after.exclusive[kind]
		return all && !still
	})
	return s
}

// shareOf returns what this replica serves according to a division. What it is about to give away
// is not in it, nor is a kind that other replicas have yet to give to it.
func (v view) shareOf(d Division) Share {
	wanted := v.assignedOwners(len(d.Owners))
	s := d.ShareOf(v.self)
	for i := range s.owns {
		s.owns[i] = s.owns[i] && wanted[i] == v.self
	}
	for kind, yet := range d.Exclusive {
		if s.Leads && (len(yet) > 0 || v.isDivided(kind)) {
			delete(s.exclusive, kind)
		}
	}
	return s
}

// isDivided reports whether the leader has decided that all replicas are to serve a kind.
func (v view) isDivided(kind string) bool {
	exclusive, isDecided := v.exclusive[kind]
	return isDecided && !exclusive
}

// unseenReplicas returns the replicas that are to serve something and have no Lease as far as was
// seen. The API server has to be asked.
func (v view) unseenReplicas() []string {
	names := append(slices.Clone(v.division.Owners), v.division.Leader)
	for _, yet := range v.division.Exclusive {
		names = append(names, yet...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		_, isAlive := v.alive[name]
		return name == "" || name == v.self || isAlive || v.gone[name]
	})
}

// nextDivision returns what this replica writes in place of the division, or nil. isDrained is true if
// nothing is under way here that is not in the share.
func (v view) nextDivision(isDrained bool) *Division {
	d := v.division.clone()
	v.freeGone(&d)
	if isDrained {
		v.giveAway(&d)
	}
	if !v.isEnding {
		v.takeFree(&d)
	}
	if d.String() == v.division.clone().String() {
		return nil
	}
	return &d
}

// freeGone frees what replicas had that are gone.
func (v view) freeGone(d *Division) {
	if v.gone[d.Leader] {
		d.Leader = ""
	}
	for i, owner := range d.Owners {
		if v.gone[owner] {
			d.Owners[i] = ""
		}
	}
	for kind, yet := range d.Exclusive {
		d.Exclusive[kind] = slices.DeleteFunc(slices.Clone(yet), func(name string) bool { return v.gone[name] })
	}
}

// giveAway gives away what this replica has and should not have.
func (v view) giveAway(d *Division) {
	for i, wanted := range v.assignedOwners(len(d.Owners)) {
		if d.Owners[i] == v.self {
			d.Owners[i] = wanted
		}
	}
	for kind, yet := range d.Exclusive {
		d.Exclusive[kind] = slices.DeleteFunc(slices.Clone(yet), func(name string) bool { return name == v.self })
	}
	switch {
	case d.Leader != v.self:
	case v.isEnding:
		d.Leader = ""
	default:
		maps.DeleteFunc(d.Exclusive, func(kind string, _ []string) bool { return v.isDivided(kind) })
	}
}

// takeFree takes what nobody has and this replica should have.
func (v view) takeFree(d *Division) {
	if d.Leader == "" {
		d.Leader = v.self
	}
	if d.Leader == v.self && !d.isOwned() && len(d.Owners) != v.buckets {
		d.Owners = make([]string, v.buckets)
	}
	if v.division.Leader == v.self && d.Leader == v.self {
		v.requestKinds(d)
	}
	for i, wanted := range v.assignedOwners(len(d.Owners)) {
		if wanted == v.self && d.Owners[i] == "" {
			d.Owners[i] = v.self
		}
	}
}

// requestKinds requests the kinds that the leader is to serve alone from the replicas that own
// buckets.
func (v view) requestKinds(d *Division) {
	for kind, exclusive := range v.exclusive {
		if _, isRequested := d.Exclusive[kind]; !exclusive || isRequested {
			continue
		}
		owners := slices.Compact(slices.Sorted(slices.Values(d.Owners)))
		d.Exclusive[kind] = slices.DeleteFunc(owners, func(name string) bool { return name == "" || name == v.self })
	}
}
