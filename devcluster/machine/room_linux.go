package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// folders are what the nodes' programs write to without asking, each node's
// the same. In the room they are the cluster's own.
var folders = []string{"/run/containerd", "/run/netns", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// A Room is a thread with a mount namespace of its own. Processes started in
// it see the mounts of one another, and nobody else does.
type Room struct{ work chan func() }

// openRoom makes a room in which the folders lie in dir. Its thread lives as
// long as the program, so that processes may be tied to its life.
func openRoom(dir string) (*Room, error) {
	room, failed := &Room{work: make(chan func())}, make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: no other goroutine may see this thread's mounts
		err := enterMounts(dir)
		failed <- err
		if err != nil {
			return
		}
		for do := range room.work {
			do()
		}
	}()
	return room, <-failed
}

// enterMounts gives the calling thread its mount namespace, in which the folders lie in dir.
func enterMounts(dir string) error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount namespace: %w", err)
	}
	// What is mounted outside shall come in, never the other way round; what a
	// Pod mounts with propagation "Bidirectional" shall reach the others.
	for _, how := range []uintptr{unix.MS_SLAVE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|how, ""); err != nil {
			return fmt.Errorf("parting the mounts from the machine's: %w", err)
		}
	}
	for _, folder := range folders {
		own := filepath.Join(dir, "machine", folder)
		if err := os.RemoveAll(own); err != nil { // of another life
			return fmt.Errorf("clearing %s: %w", own, err)
		}
		if err := os.MkdirAll(own, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", own, err)
		}
		if err := unix.Mount(own, folder, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s on %s: %w", own, folder, err)
		}
	}
	return nil
}

// Do runs something on the room's thread and waits for it.
func (r *Room) Do(do func() error) error {
	failed := make(chan error)
	r.work <- func() { failed <- do() }
	return <-failed
}

// OverlayWorks tells whether an overlay can be mounted in that folder, which
// it cannot where the folder is on an overlay itself, as in many containers.
func (r *Room) OverlayWorks(dir string) bool {
	return r.Do(func() error {
		probe, err := os.MkdirTemp(dir, "overlay-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(probe) }()
		for _, sub := range []string{"lower", "upper", "work", "all"} {
			if err := os.Mkdir(filepath.Join(probe, sub), 0o700); err != nil {
				return err
			}
		}
		options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", probe)
		if err := unix.Mount("overlay", filepath.Join(probe, "all"), "overlay", 0, options); err != nil {
			return err
		}
		return unix.Unmount(filepath.Join(probe, "all"), 0)
	}) == nil
}
