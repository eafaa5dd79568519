package plan

// Same reports whether the plan changes nothing, now or once the resource is ready.
func (p *Plan) Same() bool {
	for i := range p.Steps {
		if a := p.Steps[i].Action; a != Keep && a != Done {
			return false
		}
	}
	return len(p.Prune) == 0 && len(p.RetainedFor(StillUsed)) == 0 && len(p.Release) == 0 && !p.Empty
}
