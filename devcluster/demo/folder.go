package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// takeFolder returns the first of parent/1, parent/2 … that no running demo
// uses, emptied: so the paths are the same each time, and several run side by
// side.
func takeFolder(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("making the demo's folder: %w", err)
	}
	for i := 1; ; i++ {
		dir := filepath.Join(parent, strconv.Itoa(i))
		// Not an os.File, which would be closed when it is garbage: the lock is
		// held until the process ends.
		lock, err := syscall.Open(dir+".lock", syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return "", fmt.Errorf("opening the lock of %s: %w", dir, err)
		}
		if syscall.Flock(lock, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			_ = syscall.Close(lock)
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return "", fmt.Errorf("emptying %s: %w", dir, err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "log"), 0o700); err != nil {
			return "", fmt.Errorf("making %s: %w", dir, err)
		}
		return dir, nil
	}
}

// freeAddress returns a loopback address on which nothing listens.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String(), nil
}
