package health

import (
	"encoding/json"
	"time"
)

// Says is all that a Health says, as JSON, but for what changes while all stays
// as it is.
func (h *Health) Says() string {
	still := *h
	still.Installations = nil
	for _, i := range h.Installations {
		one := *i
		one.Leader.Renewed = time.Time{}
		one.Members = nil
		for _, m := range i.Members {
			rests := *m
			rests.Queue, rests.Lag = 0, 0
			one.Members = append(one.Members, &rests)
		}
		still.Installations = append(still.Installations, &one)
	}
	text, _ := json.Marshal(still) // texts, numbers and times
	return string(text)
}

// Elects reports whether the operator takes part in a leader election, as far as is
// known.
func (i *Installation) Elects() bool { return i.report == nil || i.report.Lease != "" }
