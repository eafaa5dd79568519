// Release makes all files of a release out of one commit: binaries, image, chart,
// manifests, lists of what is in them, checksums and signatures. `make release`
// calls it. names.go has the names of all.
//
// The same commit and version give the same bytes, except for signatures.
// goreleaser would make archives, checksums and krew's manifest, but takes images
// from Docker or ko, lists of contents from other programs, which date them, and
// does not package charts; most of this program would stay. It is a module of its
// own so that nothing of it reaches the operator.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	r := release{root: filepath.Join("..", "..")}
	platforms := flag.String("platforms", "", "build a part of a release for these alone, such as linux/amd64,darwin/arm64; for tests")
	key := flag.String("key", "", "cosign's private key to sign with; COSIGN_PASSWORD is its password")
	cosign := flag.String("cosign", "cosign", "the program cosign")
	flag.StringVar(&r.version, "version", "", "version of the release, vMAJOR.MINOR.PATCH")
	flag.StringVar(&r.output, "output", "", "directory to write, which must not hold anything but a release")
	flag.Parse()
	err := r.choosePlatforms(*platforms)
	if err == nil {
		err = r.makeRelease(signer{cosign: *cosign, key: *key})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s holds the release %s of commit %s\n", r.output, r.version, r.commit)
}

// choosePlatforms sets for which platforms the release is, and whether it has the extension for
// editors.
func (r *release) choosePlatforms(platforms string) error {
	if platforms == "" {
		r.platforms, r.editor = allPlatforms, true
		return nil
	}
	for name := range strings.SplitSeq(platforms, ",") {
		p, err := parsePlatform(name)
		if err != nil {
			return err
		}
		r.platforms = append(r.platforms, p)
	}
	return nil
}

// makeRelease writes the release. What can be refused is refused before anything is built.
func (r *release) makeRelease(sign signer) (err error) {
	if r.output == "" {
		return errors.New("say by --output where to write the release")
	}
	if err := r.identifyCommit(); err != nil {
		return fmt.Errorf("making the release %s: %w", r.version, err)
	}
	if err := errors.Join(r.checkDocs(), r.checkOutput(), r.checkTools(), sign.checkKey()); err != nil {
		return fmt.Errorf("making the release %s: %w", r.version, err)
	}
	if r.work, err = os.MkdirTemp(filepath.Join(r.root, ".bin"), "release-"); err != nil {
		return fmt.Errorf("making the release %s: %w", r.version, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if r.work, err = filepath.Abs(r.work); err != nil {
		return err
	}
	steps := []func() error{r.buildImage, r.buildBinaries, r.packageChart, r.packageEditor, r.writeKrew, r.writeProvenance, r.writeSums,
		func() error { return sign.signFile(filepath.Join(r.output, sums)) }, func() error { return r.checkComplete(sign.key != "") }}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("making the release %s: %w", r.version, err)
		}
	}
	return nil
}
