package plan

// Same says whether the plan changes nothing.
func (p *Plan) Same() bool {
	for i := range p.Steps {
		if p.Steps[i].Action != Keep {
			return false
		}
	}
	return len(p.Prune) == 0
}
