package oci

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
)

var library = regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)

// AddLibraries puts the shared libraries in that these programs and libraries
// of this machine need, the dynamic loader among them, each under its own path.
// What needs none is passed over. It asks ldd.
func (f *Files) AddLibraries(programs ...string) error {
	for _, program := range programs {
		out, err := exec.Command("ldd", program).CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			continue // not a dynamic executable
		}
		if err != nil {
			return fmt.Errorf("finding the libraries of %s: %w: %s", program, err, out)
		}
		for _, m := range library.FindAllSubmatch(out, -1) {
			file := string(m[1])
			if err := f.AddFile(file, file); err != nil {
				return err
			}
		}
	}
	return nil
}
