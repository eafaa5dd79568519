// Package standin builds small images under the names of those that the
// examples use, so that their Pods really run where nothing can be pulled.
package standin

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

// Servers are the names of images whose stand-in is a small HTTP server, with
// the ports that it listens on, separated by blanks.
var Servers = map[string]string{
	"nginx:1.16.1":          "80",
	"nginx:1.29":            "80",
	"nginx:latest":          "80",
	"mbessler/syslogdocker": "514",
	"milvusdb/milvus":       "19530",
	"memcached:1.6-alpine":  "11211",
	"quay.io/austincunningham/always200:latest": "8080",
}

// App is the name of the image whose stand-in is a JVM, and Loader that of the
// image that loads an exporter into it.
const (
	App    = "tomcat:9"
	Loader = "banzaicloud/jmx-exporter-loader:latest"
)

// Here is the platform of the machine, for which all images are built.
func Here() v1.Platform { return v1.Platform{OS: "linux", Architecture: runtime.GOARCH} }

// searchPath is what images without a base need for their programs to find others.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// BuildServers builds the stand-in of each of Servers. Module is the folder of
// the module e2e.
func BuildServers(module string) (map[string]v1.Image, error) {
	dir, err := os.MkdirTemp("", "jacquard-standin-")
	if err != nil {
		return nil, fmt.Errorf("building stand-ins: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "server")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./standin/server")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if err := run(cmd); err != nil {
		return nil, err
	}
	images := map[string]v1.Image{}
	for name, ports := range Servers {
		short, _, _ := strings.Cut(path.Base(name), ":")
		entry := "/usr/local/bin/" + short // by which some Pods call it
		var files oci.Files
		if err := files.AddFile(entry, program); err != nil {
			return nil, err
		}
		config := v1.Config{Entrypoint: []string{entry}, Env: []string{searchPath, "IMAGE=" + name, "PORTS=" + ports}}
		if images[name], err = (oci.Image{Platform: Here(), Config: config, Files: &files}).Build(); err != nil {
			return nil, err
		}
	}
	return images, nil
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}
