package engine

import "github.com/jacquard-operator/jacquard/engine/controller"

// Options are what an operator is started with.
type Options = controller.Options

// A Lease says how a leader is found.
type Lease = controller.Lease

// Readiness says which folders must have loaded before an operator is ready.
type Readiness = controller.Readiness

// The values of Readiness.
const (
	ReadyRelease = controller.ReadyRelease
	ReadyAll     = controller.ReadyAll
	ReadyNone    = controller.ReadyNone
)

// An Operator serves the kinds of its folders.
type Operator = controller.Operator

// New returns an operator, which does nothing before [Operator.Run]. Its errors
// are about the options.
func New(options Options) (*Operator, error) { return controller.New(options) }
