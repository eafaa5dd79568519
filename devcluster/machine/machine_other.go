//go:build !linux

package machine

import "errors"

var errOther = errors.New("a real node needs Linux; try --node simulated")

// Check says that real nodes need Linux.
func Check(string) (Tools, error) { return Tools{}, errOther }

// A Lock is the right to change this machine for a cluster.
type Lock struct{}

// Take says that real nodes need Linux.
func Take() (*Lock, error) { return nil, errOther }

// Release gives the lock back.
func (*Lock) Release() {}

// A Machine is this machine, made ready for a cluster of real nodes.
type Machine struct{}

// Prepare says that real nodes need Linux.
func Prepare(string, int) (*Machine, error) { return nil, errOther }

// Do runs something.
func (*Machine) Do(do func() error) error { return do() }

// OverlayWorks tells whether an overlay can be mounted: no.
func (*Machine) OverlayWorks(string) bool { return false }

// Adopt does nothing.
func (*Machine) Adopt(int) error { return errOther }

// Group is the name of the cgroup of the cluster in dir: there is none.
func Group(string) string { return "" }

// Left returns the folder of the cluster that was killed: there is none.
func Left() string { return "" }

// Changed tells whether the machine is changed: it never is.
func Changed(string) bool { return false }

// Restore has nothing to do.
func Restore(string) error { return nil }
