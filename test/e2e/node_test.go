package e2e_test

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/registry"
	"github.com/jacquard-operator/jacquard/test/e2e/standin"
)

// A realNode is a cluster of one node that runs Pods, with the images that the
// examples need.
type realNode struct {
	dir   string // of devcluster, with kubeconfig and audit.log
	image string // name of the operator's image, which is loaded

	without []span // when the operator was without its rights

	process  *exec.Cmd
	stdin    io.Closer
	ended    chan error
	registry *registry.Registry
}

var (
	once    sync.Once
	started *realNode
	trouble error
)

// node is the cluster of this run, which the first test that asks brings up.
func node(t *testing.T) *realNode {
	t.Helper()
	needs(t)
	once.Do(func() {
		started = &realNode{}
		trouble = started.up()
	})
	var lack unable
	if errors.As(trouble, &lack) {
		_, apt := exec.LookPath("apt-get")
		absent(t, lack.Error(), apt == nil && strings.Contains(lack.Error(), "apt-get install"))
	}
	if trouble != nil {
		t.Fatal(trouble)
	}
	return started
}

// An unable error says what devcluster finds that this machine lacks.
type unable string

func (e unable) Error() string { return string(e) }

// up brings the node up, with all images.
func (n *realNode) up() error {
	var err error
	if n.dir, err = os.MkdirTemp("", "jacquard-e2e-"); err != nil {
		return err
	}
	if n.registry, err = registry.Start(); err != nil {
		return err
	}
	if err := n.start("up", "--node", "real", "--containerd", bin("containerd/containerd"), "--registry-mirror", n.registry.URL(), "--dir",
		n.dir, "--token", "editor=editor", "--until-stdin-closes"); err != nil {
		return err
	}
	// What takes no node is done while it comes up.
	if err := n.pushStandIns(); err != nil {
		return err
	}
	if err := n.ready(); err != nil {
		return err
	}
	archive := bin("image/jacquard.tar")
	if n.image, err = imageName(archive); err != nil {
		return err
	}
	if out, err := exec.Command(bin("devcluster"), "load", "--dir", n.dir, archive).CombinedOutput(); err != nil {
		return fmt.Errorf("loading %s: %w\n%s", archive, err, out)
	}
	return nil
}

// start starts devcluster, which ends with this process.
func (n *realNode) start(args ...string) error {
	n.process = exec.Command(bin("devcluster"), args...)
	log, err := os.Create(filepath.Join(n.dir, "devcluster.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	n.process.Stdout, n.process.Stderr = log, log
	if n.stdin, err = n.process.StdinPipe(); err != nil {
		return err
	}
	if err := n.process.Start(); err != nil {
		return err
	}
	n.ended = make(chan error, 1)
	go func() { n.ended <- n.process.Wait() }()
	return nil
}

// ready waits until devcluster says that the node is ready.
func (n *realNode) ready() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(n.dir, "ready")); err == nil {
			return nil
		}
		select {
		case err := <-n.ended:
			n.ended <- err
			if at := strings.Index(n.log(), "a real node needs "); at >= 0 {
				return unable(n.log()[at:])
			}
			return fmt.Errorf("devcluster ended: %w\n%s", err, n.log())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the node is not ready after %s:\n%s", patience, n.log())
		}
	}
}

func (n *realNode) log() string {
	text, _ := os.ReadFile(filepath.Join(n.dir, "devcluster.log"))
	return string(text)
}

// pushStandIns puts what the examples' images are called by into the registry.
func (n *realNode) pushStandIns() error {
	images, err := standin.BuildServers(".")
	if err != nil {
		return err
	}
	if images[standin.App], err = standin.BuildApp("."); err != nil {
		return err
	}
	if images[standin.Loader], err = standin.BuildLoader(filepath.Join(repository, "examples", "jmx-exporter-loader")); err != nil {
		return err
	}
	for name, image := range images {
		if err := n.registry.Push(image, name); err != nil {
			return err
		}
	}
	return nil
}

// down ends what up began. With KEEP set, the folder with all logs stays.
func down() {
	if started == nil {
		return
	}
	if started.process != nil && started.process.Process != nil {
		_ = started.stdin.Close()
		if err := <-started.ended; err != nil {
			fmt.Fprintf(os.Stderr, "devcluster ended: %v\n%s", err, started.log())
		}
	}
	if started.registry != nil {
		_ = started.registry.Close()
	}
	if os.Getenv("KEEP") != "" {
		fmt.Fprintln(os.Stderr, "kept:", started.dir)
		return
	}
	_ = os.RemoveAll(started.dir)
}

// imageName is the name that an OCI archive gives its image.
func imageName(file string) (string, error) {
	archive, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading %s: it is no OCI archive", file)
		}
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		if header.Name != "index.json" {
			continue
		}
		var index v1.IndexManifest
		if err := json.NewDecoder(r).Decode(&index); err != nil || len(index.Manifests) != 1 {
			return "", fmt.Errorf("reading %s: it holds %d images: %w", file, len(index.Manifests), err)
		}
		return index.Manifests[0].Annotations["io.containerd.image.name"], nil
	}
}

// parts are the repository and the tag of an image's name.
func parts(image string) (repository, tag string) {
	at := strings.LastIndex(image, ":")
	return image[:at], image[at+1:]
}
