// Package browser opens the page of `jacquard ui` in a headless Chromium: on a real
// cluster, with a real operator, and with the command as people run it.
//
// Chromium is driven by chromedp, which speaks the browser's own protocol: there is no
// driver to install, and the protocol tells of every request and of all that a
// Content-Security-Policy stopped. Playwright for Go downloads a browser and needs Node;
// rod tells less of what goes wrong in a page.
package browser

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var (
	cluster *kit.Cluster
	// chromium is the path of the browser, "" if there is none.
	chromium = found("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
)

func found(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "jacquard" { // as people run it
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	flag.Set("test.parallel", "2") //nolint:errcheck // a browser and its page want a core
	if chromium == "" {            // each test says that it is skipped
		os.Exit(m.Run())
	}
	kit.Main(m, &cluster, "--nodes", "1", "--components", "etcd,apiserver,controller-manager,scheduler,kwok",
		"--token", "admin=admin:system:masters")
}
