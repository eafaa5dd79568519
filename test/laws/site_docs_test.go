package laws

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const site = "docs/site/"

// TestSiteLinksLead: what the settings of a page link to is there. TestLinksLead and
// TestAnchorsLead look at its text.
func TestSiteLinksLead(t *testing.T) {
	page := site + "index.md"
	links := regexp.MustCompile(`(?m)^ *link: (\S+)$`).FindAllStringSubmatch(string(read(t, page)), -1)
	if len(links) == 0 {
		t.Errorf("%s has no links: this test no longer understands its settings", page)
	}
	for _, m := range links {
		if !exists(page, m[1]) {
			t.Errorf("%s: links to %s, which is not there", page, m[1])
		}
	}
}

// TestSiteLock: the lock of the site's packages names no host, and no version is open.
func TestSiteLock(t *testing.T) {
	text := string(read(t, site+"package-lock.json"))
	if strings.Contains(text, `"resolved"`) || strings.Contains(text, "registry") {
		t.Error("package-lock.json names a registry")
	}
	if !strings.Contains(text, `"integrity": "sha512-`) {
		t.Error("package-lock.json has no checksums")
	}
	if open := regexp.MustCompile(`"[\^~*][^"]*"`).FindString(string(read(t, site+"package.json"))); open != "" {
		t.Errorf("package.json: %s is not one version", open)
	}
}

var (
	// inShell matches a block of code; those of a shell are given no language, or console.
	inShell  = regexp.MustCompile("(?ms)^ *```([a-z]*)[^\n]*\n(.*?)^ *```")
	called   = regexp.MustCompile(`(?m)(?:^ *(?:\$ )?|[|;&(] ?)(?:kubectl )?(jacquard|make) ([a-z][a-z0-9-]*)([^\n|;&#]*)`)
	longFlag = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
	target   = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `)
)

// shellLines are the pieces of a document that are given to a shell, or could be.
func shellLines(text string) (pieces []string) {
	for _, m := range inShell.FindAllStringSubmatch(text, -1) {
		if slices.Contains([]string{"", "console", "bash", "sh"}, m[1]) {
			pieces = append(pieces, m[2])
		}
	}
	for _, m := range code.FindAllStringSubmatch(inShell.ReplaceAllString(text, ""), -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}

// TestCommandsExist: the commands, flags and targets of make that documents show exist.
func TestCommandsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(string(read(t, "Makefile")), -1) {
		targets[m[1]] = true
	}
	flags := map[string]string{"help": "", "completion": "", "version": help(t, "version")}
	_, commands, _ := strings.Cut(help(t), "Available Commands:\n")
	for _, m := range commandLine.FindAllStringSubmatch(commands, -1) {
		flags[m[1]] = help(t, m[1])
	}
	n := 0
	for _, file := range proseFiles(t) {
		if file == "CHANGELOG.md" || strings.HasPrefix(file, "docs/decisions/") { // they tell what was
			continue
		}
		for _, piece := range shellLines(string(read(t, file))) {
			for _, m := range called.FindAllStringSubmatch(piece, -1) {
				n++
				if m[1] == "make" {
					if !targets[m[2]] {
						t.Errorf("%s: there is no make %s", file, m[2])
					}
					continue
				}
				noSuchFlags(t, file, m, flags)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands found: this test no longer understands documents", n)
	}
}

// noSuchFlags reports a command, or its flags, that do not exist.
func noSuchFlags(t *testing.T, file string, call []string, flags map[string]string) {
	t.Helper()
	text, there := flags[call[2]]
	if !there {
		t.Errorf("%s: there is no command jacquard %s", file, call[2])
		return
	}
	if call[2] == "completion" || call[2] == "help" {
		return
	}
	for _, flag := range longFlag.FindAllStringSubmatch(call[3], -1) {
		if !regexp.MustCompile(regexp.QuoteMeta(flag[1]) + `\b`).MatchString(text) {
			t.Errorf("%s: jacquard %s has no flag %s", file, call[2], flag[1])
		}
	}
}

// proseFiles are the documents that people read.
func proseFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, ".md"), func(file string) bool {
		return !slices.Contains([]string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "charts/jacquard/README.md"}, file) &&
			!strings.HasPrefix(file, "docs/") && !strings.HasPrefix(file, "examples/")
	})
}
