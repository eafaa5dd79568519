package cluster

import "syscall"

// childAttributes keeps Ctrl-C in a terminal from the parts, which are taken
// down in order instead, and has the kernel kill them when the thread that
// started them ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
