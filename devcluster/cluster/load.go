package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jacquard-operator/jacquard/devcluster/machine"
)

// Load is `devcluster load`: it brings images to all nodes of a cluster of
// real nodes.
func Load(args []string) error {
	flags := flag.NewFlagSet("devcluster load", flag.ContinueOnError)
	dir := flags.String("dir", "", "the cluster's `DIR`")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(),
			"usage: devcluster load --dir DIR IMAGE.tar...\n\nBrings images, as archives of `docker save` or of the OCI layout, to all real nodes.")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if *dir == "" || flags.NArg() == 0 {
		return errors.New("want --dir DIR, as of `devcluster up --node real`, and IMAGE.tar")
	}
	if _, err := machine.Check(""); err != nil {
		return err
	}
	sockets, err := filepath.Glob(filepath.Join(*dir, "node-*", "containerd.sock"))
	if err != nil || len(sockets) == 0 {
		return fmt.Errorf("finding nodes: there is no node-*/containerd.sock in %s", *dir)
	}
	for _, image := range flags.Args() {
		for _, socket := range sockets {
			if err := importImage(context.Background(), socket, image); err != nil {
				return err
			}
		}
	}
	return nil
}

// importImage imports the images of an archive into one containerd.
func importImage(ctx context.Context, socket, archive string) error {
	if _, err := os.Stat(archive); err != nil {
		return fmt.Errorf("importing an image: %w", err)
	}
	out, err := runCtr(ctx, socket, "images", "import", archive)
	if err != nil {
		return fmt.Errorf("importing %s into %s: %w", archive, filepath.Base(filepath.Dir(socket)), err)
	}
	fmt.Printf("%s: %s", filepath.Base(filepath.Dir(socket)), out)
	return nil
}

// runCtr runs containerd's own client, and returns its output.
func runCtr(ctx context.Context, socket string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "ctr", append([]string{"--address", socket, "--namespace", "k8s.io"}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return out, nil
}
