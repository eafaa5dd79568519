package heartbeat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// Format is the version of the report's form. Fields may be added to it; what is
// there stays.
const Format = "v1"

// A Report is what an operator says of itself.
type Report struct {
	// Version is that of the form, Program that of the operator.
	Version  string `json:"version"`
	Program  string `json:"operatorVersion"`
	Identity string `json:"identity"`
	Pod      string `json:"pod"`
	// Account is the operator's user name; "" if the API server did not say.
	Account string `json:"account,omitempty"`
	// Groups are those of the account; a service account's go without saying.
	Groups []string `json:"groups,omitempty"`
	// Local: it runs outside of the cluster.
	Local bool `json:"local,omitempty"`
	// Since is when this operator began to lead.
	Since time.Time `json:"since"`
	// Lease is the leader's Lease, in the namespace Namespace of it; "" if the
	// operator runs without leader election.
	Lease          string `json:"lease,omitempty"`
	LeaseNamespace string `json:"leaseNamespace,omitempty"`
	ReadOnly       bool   `json:"readOnly,omitempty"`
	// Namespaces are those that the operator is limited to; none means all.
	Namespaces []string `json:"namespaces,omitempty"`
	// Selector is which resources it serves; "" means all.
	Selector string `json:"selector,omitempty"`
	// MissingRoots are the roots that it cannot read, and why.
	MissingRoots []string `json:"missingRoots,omitempty"`
	// Kinds are those that it has a folder for, or serves, by name.
	Kinds []Kind `json:"kinds"`
	// Cut is how many kinds did not fit.
	Cut int `json:"omittedKinds,omitempty"`
}

// A Kind is one kind as its operator serves it.
type Kind struct {
	// Name is that of the CRD.
	Name string `json:"name"`
	// Served is the API version that templates see; "" while it is not known.
	Served string `json:"served,omitempty"`
	// Folder is where the folder comes from, Unused where further ones do.
	Folder string   `json:"folder,omitempty"`
	Unused []string `json:"unusedFolders,omitempty"`
	// Ignored are fields of kind.yaml that have no effect.
	Ignored []string `json:"ignored,omitempty"`
	// Digest tells two states of the folder apart.
	Digest string `json:"digest,omitempty"`
	// Revision is the digest of the revision that the folder was loaded as.
	Revision string        `json:"revision,omitempty"`
	State    verdict.State `json:"state"`
	// Message says why: what is wrong with the folder, who serves the kind.
	Message string `json:"message,omitempty"`
	// Unlisted are the kinds of objects that cannot be listed or watched now, and why.
	Unlisted []string `json:"watchErrors,omitempty"`
	// Pending is how many resources would be changed, were the operator not
	// read-only.
	Pending int `json:"pending,omitempty"`
}

// Bounds of a report in bytes: the API server allows 256 KiB of annotations.
const (
	most        = 128 << 10
	mostMessage = 2000
	fewMessage  = 200
)

// String returns the report as JSON of at most 128 KiB. What does not fit is cut:
// first messages, then the last kinds, which Cut counts.
func (r Report) String() string {
	text := r.marshalWithin(mostMessage)
	if len(text) > most {
		text = r.marshalWithin(fewMessage)
	}
	for len(text) > most && len(r.Kinds) > 0 {
		left := len(r.Kinds) * 9 / 10
		r.Cut += len(r.Kinds) - left
		r.Kinds = r.Kinds[:left]
		text = r.marshalWithin(fewMessage)
	}
	return text
}

// marshalWithin returns the report as JSON, with messages of at most so many bytes.
func (r Report) marshalWithin(limit int) string {
	kinds := make([]Kind, len(r.Kinds))
	for i, k := range r.Kinds {
		k.Message = truncateText(k.Message, limit)
		if len(k.Unused) > 0 {
			k.Unused = []string{truncateText(strings.Join(k.Unused, ", "), limit)}
		}
		if len(k.Unlisted) > 0 {
			k.Unlisted = []string{truncateText(strings.Join(k.Unlisted, "; "), limit)}
		}
		kinds[i] = k
	}
	r.Version, r.Kinds = Format, kinds
	text, _ := json.Marshal(r) // texts, numbers and a time
	return string(text)
}

// truncateText shortens a text to so many bytes, if it is longer.
func truncateText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// Read reads a report; "" is none, and an error.
func Read(text string) (*Report, error) {
	if text == "" {
		return nil, errors.New("reading the operator's report: there is none yet")
	}
	r := &Report{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, fmt.Errorf("reading the operator's report: %w", err)
	}
	if r.Version != Format {
		return nil, fmt.Errorf("reading the operator's report: it is of version %q, and this program knows %s: use the operator's own version",
			r.Version, Format)
	}
	return r, nil
}
