package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mentioned matches what the documents call files of a release, the image and
// the chart in the registry.
var mentioned = regexp.MustCompile(`\bjacquard_\w+\.(?:tar\.gz|tar|tgz|zip|exe|cdx\.json)\b` +
	`|\bjacquard-v?[0-9][\w.+-]*\.(?:tgz|tar\.gz|zip|vsix)\b` +
	`|[\w.-]+\.vsix\b` +
	`|\binstall\.yaml\b` +
	`|` + sums + `[\w.]*\w` +
	`|` + regexp.QuoteMeta(project) + `/releases/(?:latest/download|download/[\w.-]+)/[\w.-]*\w` +
	`|ghcr\.io/jacquard-operator(?:/[\w-]+)+(?::[\w.-]*\w)?`)

// checkDocs fails if a document names something that the release does not
// contain, or if the README says otherwise whether one is published. A
// pre-release has the names of the version that comes next.
func (r *release) checkDocs() error {
	whole := release{version: r.version, platforms: allPlatforms, editor: true, root: r.root}
	if r.preRelease() {
		var err error
		if whole.version, err = r.chartVersion(); err != nil {
			return err
		}
	}
	known := whole.knownNames()
	var errs []error
	files, err := listDocuments(r.root)
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(r.root, file))
		if err != nil {
			return err
		}
		errs = append(errs, findUnknown(file, string(text), known)...)
		if file == "README.md" {
			errs = append(errs, checkPublished(string(text), published))
		}
	}
	return errors.Join(errs...)
}

// knownNames returns all names under which the documents may mention the release.
func (r *release) knownNames() []string {
	names := []string{imageRepository, imageName(r.version), chartRepository, chartRepository + "/jacquard",
		chartRepository + "/jacquard:" + strings.TrimPrefix(r.version, "v")}
	for _, name := range r.listContents(true) {
		names = append(names, name, project+"/releases/latest/download/"+name, project+"/releases/download/"+r.version+"/"+name)
	}
	return names
}

// listDocuments returns the texts that users read, and the workflow that publishes, by their paths
// in the repository.
func listDocuments(root string) ([]string, error) {
	files := []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "charts/jacquard/README.md", ".github/workflows/release.yml"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(file, ".md") {
			files = append(files, file)
		}
		return err
	})
	return files, err
}

// findUnknown returns errors about what a document names and the release does not contain.
func findUnknown(file, text string, known []string) (errs []error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		for _, name := range mentioned.FindAllString(line, -1) {
			if !slices.Contains(known, name) {
				errs = append(errs, fmt.Errorf("%s:%d: there is no %s in the release", file, n, name))
			}
		}
	}
	return errs
}

// aboveInstall matches the first block of commands of the README's section on
// installing, and the line above it.
var aboveInstall = regexp.MustCompile("(?s)\n## Install\n.*?([^\n]*)\n+```\n")

// checkPublished fails unless the line above the install says that nothing is
// published, as long as that is so.
func checkPublished(readme, newest string) error {
	m := aboveInstall.FindStringSubmatch(readme)
	if m == nil {
		return errors.New("README.md: there is no section Install with commands")
	}
	if says := strings.Contains(m[1], "Nothing is published yet"); says != (newest == "") {
		return fmt.Errorf("README.md: the line above the install is %q, and the newest version that is published %q (tools/release/names.go)",
			m[1], newest)
	}
	return nil
}
