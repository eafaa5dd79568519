package standin

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

// BuildApp builds an image with a Java program that does nothing, on a runtime
// made from the machine's own JDK. Module is the folder of the module e2e.
func BuildApp(module string) (v1.Image, error) {
	dir, err := os.MkdirTemp("", "jacquard-app-")
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", App, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var files oci.Files
	files.AddFolder("/tmp", 0o777)
	if err := link(filepath.Join(dir, "java"), "java.instrument,java.management,jdk.httpserver"); err != nil {
		return nil, err
	}
	if err := addRuntime(&files, "/opt/java", filepath.Join(dir, "java")); err != nil {
		return nil, err
	}
	classes := filepath.Join(dir, "classes")
	if err := run(exec.Command("javac", "-encoding", "UTF-8", "-d", classes,
		filepath.Join(module, "standin", "java", "Dummyapp.java"))); err != nil {
		return nil, err
	}
	if err := files.AddTree("/app", classes); err != nil {
		return nil, err
	}
	config := v1.Config{Env: []string{searchPath}, Entrypoint: []string{"/opt/java/bin/java", "-Xmx32m", "-XX:+UseSerialGC", "-cp", "/app",
		"Dummyapp"}}
	return oci.Image{Platform: Here(), Config: config, Files: &files}.Build()
}

// BuildLoader builds the image of examples/jmx-exporter-loader, the folder
// given, as its Dockerfile says: only that in place of Debian there are the two
// programs of the machine that the loader calls.
func BuildLoader(example string) (v1.Image, error) {
	text, err := os.ReadFile(filepath.Join(example, "Dockerfile"))
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", Loader, err)
	}
	stage, err := oci.ReadDockerfile(string(text), nil)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "jacquard-loader-")
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", Loader, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := link(filepath.Join(dir, "java"), "java.base"); err != nil {
		return nil, err
	}
	cmd := exec.Command("make", "OUT="+filepath.Join(dir, "out"))
	cmd.Dir = example
	if err := run(cmd); err != nil {
		return nil, err
	}
	var files oci.Files
	files.AddFolder("/tmp", 0o777)
	if err := addMachine(&files, "sh", "setpriv"); err != nil {
		return nil, err
	}
	for _, c := range stage.Copies {
		if err := addCopy(&files, c, dir); err != nil {
			return nil, err
		}
	}
	stage.Config.Env = append(stage.Config.Env, searchPath)
	return oci.Image{Platform: Here(), Config: stage.Config, Files: &files}.Build()
}

// link makes a Java runtime of these modules.
func link(dir, modules string) error {
	return run(exec.Command("jlink", "--add-modules", modules, "--no-header-files", "--no-man-pages", "--strip-java-debug-attributes",
		"--output", dir))
}

// addRuntime puts a Java runtime in, with the libraries of the machine that it
// needs.
func addRuntime(files *oci.Files, name, dir string) error {
	if err := files.AddTree(name, dir); err != nil {
		return err
	}
	programs := []string{filepath.Join(dir, "bin", "java")}
	err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".so") {
			programs = append(programs, file)
		}
		return err
	})
	if err != nil {
		return err
	}
	return files.AddLibraries(programs...)
}

// addMachine puts programs of the machine in, under /bin.
func addMachine(files *oci.Files, programs ...string) error {
	for _, program := range programs {
		file, err := exec.LookPath(program)
		if err != nil {
			return fmt.Errorf("building %s: %w", Loader, err)
		}
		if err := files.AddFile("/bin/"+program, file); err != nil {
			return err
		}
		if err := files.AddLibraries(file); err != nil {
			return err
		}
	}
	return nil
}

// addCopy does what a COPY of the build stage does, where that stage's root is
// the folder given.
func addCopy(files *oci.Files, c oci.Copy, root string) error {
	for _, source := range c.Sources {
		from := filepath.Join(root, filepath.FromSlash(source))
		info, err := os.Stat(from)
		if err != nil {
			return fmt.Errorf("building %s: %w", Loader, err)
		}
		if info.IsDir() {
			err = addRuntime(files, c.Target, from)
		} else {
			err = files.AddFile(path.Join(c.Target, path.Base(source)), from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
