// What a package says of itself is not checked here.
package docs

// A store keeps objects.
type store struct {
	// What is kept, by name.
	objects map[string]string
}

// Options are what a store is started with.
type Options struct{}

// The index finds objects.
type index struct{}

// turns are what runs. // want `^inFlight has a comment that starts with "turns are"; start it with inFlight, or with A, An or The inFlight`
type inFlight struct{}

// An notification collects what happened. // want `^collector has a comment that starts with "An notification"`
type collector struct{}

// get returns an object.
func (s *store) get(name string) string { return s.objects[name] }

// Returns whether there is an object. // want `^store.has has a comment that starts with "Returns whether"; start it with has,`
func (s *store) has(name string) bool { return s.objects[name] != "" }

// storeless starts with a longer word. // want `^storeles has a comment that starts with "storeless starts"`
func storeles() {}

// newStore: the name may be followed by a colon.
func newStore() *store { return nil }

//go:noinline
func directive() {}

func uncommented() {}

// How long things may take.
const (
	// Writes are slower than reads.
	writeTimeout = 2
	readTimeout  = 1
)

// maxWait and minWait bound a delay.
var minWait, maxWait = 1, 2

// How long to wait. // want `^delay has a comment that starts with "How long"`
var delay = 3

// Types may share a comment, and have their own.
type (
	// A Ref refers to an object.
	Ref struct{}
	// Refers to a child. // want `^Child has a comment that starts with "Refers to"`
	Child struct{}
)

// The blank identifier has no name.
var _ = directive
