package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// identifyCommit finds out of which commit the release is. A release that people get is one of a
// commit alone, and has the version of the chart in it.
func (r *release) identifyCommit() error {
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version {
		return fmt.Errorf("the version is %q: give VERSION=vMAJOR.MINOR.PATCH", r.version)
	}
	commit, err := r.readOutput("git", "-c", "safe.directory=*", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	seconds, err := r.readOutput("git", "-c", "safe.directory=*", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("reading the time of the commit: %w", err)
	}
	status, err := r.readOutput("git", "-c", "safe.directory=*", "status", "--porcelain")
	if err != nil {
		return err
	}
	if r.goes, err = r.readOutput("go", "env", "GOVERSION"); err != nil {
		return err
	}
	r.commit, r.time, r.changed = commit, time.Unix(at, 0).UTC(), status != ""
	if r.preRelease() {
		return nil
	}
	if r.changed {
		return fmt.Errorf("these files differ from the commit; commit them, or give a pre-release such as %s-test:\n%s", r.version, status)
	}
	next, err := r.chartVersion()
	if err == nil && next != r.version {
		err = fmt.Errorf("charts/jacquard/Chart.yaml is of %s: set its version and appVersion and those of its annotations, and run make chart", next)
	}
	return err
}

// chartVersion is the version that the repository is about to release: that of
// the chart's operator.
func (r *release) chartVersion() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "charts", "jacquard", "Chart.yaml"))
	if err != nil {
		return "", err
	}
	var chart struct{ Version, AppVersion string }
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return "", fmt.Errorf("reading charts/jacquard/Chart.yaml: %w", err)
	}
	if "v"+chart.Version != chart.AppVersion {
		return "", fmt.Errorf("charts/jacquard/Chart.yaml: the version is %s and the appVersion %s; v%s was expected", chart.Version,
			chart.AppVersion, chart.Version)
	}
	return chart.AppVersion, nil
}

// readOutput returns what a program prints in the repository, without the last newline.
func (r *release) readOutput(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w: %s", cmd, err, exit.Stderr)
	}
	return strings.TrimRight(string(out), "\n"), err
}

// checkOutput refuses to replace anything but a release, or a part of one that was
// interrupted.
func (r *release) checkOutput() error {
	entries, err := os.ReadDir(r.output)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := (&release{version: r.version, platforms: allPlatforms, editor: true}).listContents(true)
	for _, d := range entries {
		chart, err := filepath.Match(chartName("v*"), d.Name())
		if err != nil {
			return err
		}
		if !chart && !slices.Contains(ours, d.Name()) {
			return fmt.Errorf("%s holds %s, which is of no release: remove it, or give another directory", r.output, d.Name())
		}
	}
	return nil
}

// checkTools refuses to begin without what the extension for editors is built
// by.
func (r *release) checkTools() error {
	if _, err := exec.LookPath("npm"); r.editor && err != nil {
		return fmt.Errorf("there is no npm, which builds %s: install Node.js, for example by apt-get install nodejs npm", editorDir)
	}
	return nil
}

// checkComplete compares the files that are there with those that the release is
// to hold.
func (r *release) checkComplete(signed bool) error {
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return err
	}
	var got []string
	for _, d := range entries {
		got = append(got, d.Name())
	}
	if want := r.listContents(signed); !slices.Equal(got, want) {
		return fmt.Errorf("it holds %v; %v were expected", got, want)
	}
	return nil
}
