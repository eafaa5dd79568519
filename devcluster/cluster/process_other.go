//go:build !linux

package cluster

import "syscall"

// childAttributes keeps Ctrl-C in a terminal from the parts, which are taken
// down in order instead. Only Linux can tie their life to ours.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
