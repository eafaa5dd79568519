package standin_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/jacquard-operator/jacquard/test/e2e/standin"
)

const (
	module  = ".."
	example = "../../../examples/jmx-exporter-loader"
)

// TestServer: a stand-in says which image it stands for, and ends when told.
func TestServer(t *testing.T) {
	needsRoot(t)
	images, err := standin.BuildServers(module)
	if err != nil {
		t.Fatal(err)
	}
	for name := range standin.Servers {
		cmd := command(t, images[name])
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, len("stand-in for "+name))
		if _, err := io.ReadFull(out, said); err != nil || string(said) != "stand-in for "+name {
			t.Errorf("the stand-in of %s says %q, %v", name, said, err)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the stand-in of %s ends with %v", name, err)
		}
	}
}

// TestApp: the image holds all that its JVM needs.
func TestApp(t *testing.T) {
	needsJDK(t)
	image, err := standin.BuildApp(module)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := command(t, image, "/opt/java/bin/java", "--list-modules").CombinedOutput()
	for _, want := range []string{"java.instrument@", "java.management@", "jdk.httpserver@"} {
		if !strings.Contains(string(modules), want) {
			t.Errorf("the JVM has no %s: %s, %v", want, modules, err)
		}
	}
	cmd := command(t, image)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("ready"))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "ready" {
		t.Errorf("the program says %q, %v", said, err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// TestLoader: the image holds all that the loader needs and calls.
func TestLoader(t *testing.T) {
	needsJDK(t)
	image, err := standin.BuildLoader(example)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if out, err := command(t, image).CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != 2 ||
		!strings.Contains(string(out), "JMX_EXPORTER_") {
		t.Errorf("without settings the loader should end with 2: %v, %s", err, out)
	}
	cmd := command(t, image, "sh", "-c", "setpriv --reuid 1 --regid 1 --clear-groups sh -c 'kill -0 $$ && echo fine'")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "fine\n" {
		t.Errorf("sh, kill and setpriv say %q, %v", out, err)
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("running an image's programs with its files alone needs root")
	}
}

func needsJDK(t *testing.T) {
	t.Helper()
	needsRoot(t)
	if _, err := exec.LookPath("jlink"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no JDK: install default-jdk-headless")
		}
		t.Skip("there is no JDK: install default-jdk-headless")
	}
}

// inside runs a command in a folder as its root, with the machine's /proc, from
// which programs learn where they are.
const inside = `mkdir -p "$0/proc" && mount --bind /proc "$0/proc" && exec env -i ENVIRONMENT chroot "$0" "$@"`

// command runs a command, or an image's entry point if there is none, with
// nothing but the image's files.
func command(t *testing.T, image v1.Image, words ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	extract(t, image, dir)
	if out, err := exec.Command("chmod", "-R", "a+rX", dir).CombinedOutput(); err != nil { // whatever the umask was
		t.Fatalf("chmod: %v: %s", err, out)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if len(words) == 0 {
		words = file.Config.Entrypoint
	}
	args := slices.Concat([]string{"--mount", "sh", "-c", strings.ReplaceAll(inside, "ENVIRONMENT", quoted(file.Config.Env)), dir}, words)
	return exec.Command("unshare", args...)
}

func quoted(words []string) string {
	var text strings.Builder
	for _, word := range words {
		text.WriteString("'" + word + "' ")
	}
	return text.String()
}

func extract(t *testing.T, image v1.Image, dir string) {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	for r := tar.NewReader(stream); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := unpack(r, header, filepath.Join(dir, header.Name)); err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(r io.Reader, header *tar.Header, file string) error {
	if header.Typeflag == tar.TypeDir {
		return os.MkdirAll(file, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if header.Typeflag == tar.TypeSymlink {
		return os.Symlink(header.Linkname, file)
	}
	var data bytes.Buffer
	if _, err := io.Copy(&data, r); err != nil {
		return err
	}
	return os.WriteFile(file, data.Bytes(), header.FileInfo().Mode())
}
