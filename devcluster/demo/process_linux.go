package main

import "syscall"

// childAttributes keeps Ctrl-C in a terminal from the processes, which are ended
// in order instead, and has the kernel kill them when the thread that
// started them ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
