//go:build !linux

package main

import "syscall"

// childAttributes keeps Ctrl-C in a terminal from the processes, which are ended
// in order instead. Only Linux can tie their life to ours.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
