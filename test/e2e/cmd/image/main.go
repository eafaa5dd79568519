// Command image builds the operator's image as an OCI archive, without Docker,
// as the last stage of the Dockerfile says. `make image` calls it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

func main() {
	dockerfile := flag.String("dockerfile", "Dockerfile", "what says how the image is run")
	name := flag.String("name", "", "name of the image, with registry and tag")
	output := flag.String("output", "jacquard.tar", "file to write")
	args := map[string]string{}
	flag.Func("arg", "NAME=VALUE, a build argument; repeatable", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("NAME=VALUE was expected")
		}
		args[key] = value
		return nil
	})
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: image [flags] OS/ARCHITECTURE=BINARY…")
		flag.PrintDefaults()
	}
	flag.Parse()
	digest, err := writeImage(*dockerfile, args, *name, *output)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s %s@%s\n", *output, *name, digest)
}

// writeImage builds an image for each platform on the command line and writes the archive.
func writeImage(dockerfile string, args map[string]string, name, output string) (v1.Hash, error) {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return v1.Hash{}, err
	}
	stage, err := oci.ReadDockerfile(string(text), args)
	if err != nil {
		return v1.Hash{}, err
	}
	var images []v1.Image
	for _, argument := range flag.Args() {
		image, err := buildImage(stage, argument)
		if err != nil {
			return v1.Hash{}, err
		}
		images = append(images, image)
	}
	if len(images) == 0 || name == "" {
		return v1.Hash{}, fmt.Errorf("building the image: --name and OS/ARCHITECTURE=BINARY are needed")
	}
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return v1.Hash{}, err
	}
	file, err := os.Create(output)
	if err != nil {
		return v1.Hash{}, err
	}
	digest, err := oci.WriteArchive(file, name, images...)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return digest, err
}

// buildImage builds the image of one platform. The base is empty, and all that the stage copies is
// the binary.
func buildImage(stage oci.Stage, argument string) (v1.Image, error) {
	platform, binary, _ := strings.Cut(argument, "=")
	parsed, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, fmt.Errorf("building the image of %s: %w", argument, err)
	}
	if stage.Base != "scratch" || len(stage.Copies) != 1 || len(stage.Copies[0].Sources) != 1 {
		return nil, fmt.Errorf("building the image: the Dockerfile's last stage must copy one file onto scratch; it says %s and %v", stage.Base,
			stage.Copies)
	}
	var files oci.Files
	if err := files.AddFile(stage.Copies[0].Target, binary); err != nil {
		return nil, err
	}
	return oci.Image{Platform: *parsed, Config: stage.Config, Files: &files}.Build()
}
