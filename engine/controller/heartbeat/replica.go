package heartbeat

import "encoding/json"

// A Replica is what one replica says of itself, where replicas divide the resources of an
// installation.
type Replica struct {
	// Program is the version of the operator.
	Program string `json:"operatorVersion"`
	Pod     string `json:"pod"`
	// Resources is how many it serves.
	Resources int `json:"resources"`
	// Queue is how many of them wait to be served, and Lag for how many seconds the
	// first of them does.
	Queue int `json:"queue"`
	Lag   int `json:"lag"`
	// Unable are the kinds of which it does not have the revision that serves all resources. The
	// replica that leads serves these.
	Unable []string `json:"unable,omitempty"`
}

// String returns it as JSON.
func (r Replica) String() string {
	text, err := json.Marshal(r)
	if err != nil { // it holds nothing but texts and numbers
		return "{}"
	}
	return string(text)
}

// ReadReplica reads what a replica says; anything else is the zero Replica.
func ReadReplica(text string) Replica {
	var r Replica
	if json.Unmarshal([]byte(text), &r) != nil {
		return Replica{}
	}
	return r
}
