package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Changed tells whether the cluster in dir has changed this machine and not
// put it back.
func Changed(dir string) bool {
	_, err := os.Stat(recordFile(dir))
	return err == nil || Left() == dir
}

// Restore ends all processes that the cluster in dir left and puts the machine
// back as it was before it. It does all it can and tells what it could not.
// The caller has the Lock.
func Restore(dir string) error {
	was, err := readRecord(dir)
	if err != nil {
		return err
	}
	owner := Left()
	mine := owner == dir || owner == "" // killed before it could name its link
	left := removeGroups(Group(dir))
	if mine {
		left = errors.Join(left, removeTables())
	}
	for setting, value := range was.Settings {
		left = errors.Join(left, writeSetting(setting, value))
	}
	for _, folder := range was.Folders {
		// What somebody else has put there is not ours to remove.
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			left = errors.Join(left, fmt.Errorf("removing a folder: %w", err))
		}
	}
	for root, enabled := range was.Controllers {
		disableControllers(root, strings.Fields(enabled))
	}
	if left != nil {
		return left
	}
	// The link last: as long as it is there, the next cluster finds what is
	// left to do.
	if mine {
		if err := removeLinks(); err != nil {
			return err
		}
	}
	if err := os.Remove(recordFile(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing how the machine was: %w", err)
	}
	return nil
}

// readRecord reads the record. A record of an earlier life of the machine names only folders to put
// back, since a boot undoes the rest. Without a record, because somebody removed the cluster's
// folder, only links and cgroups are put back.
func readRecord(dir string) (record, error) {
	var was record
	data, err := os.ReadFile(recordFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return was, nil
	}
	if err != nil {
		return was, fmt.Errorf("reading how the machine was: %w", err)
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return was, fmt.Errorf("reading how the machine was, %s: %w", recordFile(dir), err)
	}
	if was.Boot != readBootID() {
		was.Settings, was.Controllers = nil, nil
	}
	return was, nil
}

// writeSetting writes one of the kernel's settings unless it already has that value.
func writeSetting(setting, value string) error {
	path := filepath.Join("/proc/sys", setting)
	if now, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(now)) == value {
		return nil
	}
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		return fmt.Errorf("setting %s back to %s: %w", setting, value, err)
	}
	return nil
}

// disableControllers takes back controllers that were not handed on before. Others may use them by
// now, and then they stay.
func disableControllers(root string, before []string) {
	control := filepath.Join(root, "cgroup.subtree_control")
	for _, controller := range readControllers(control) {
		if !slices.Contains(before, controller) {
			_ = os.WriteFile(control, []byte("-"+controller), 0)
		}
	}
}
