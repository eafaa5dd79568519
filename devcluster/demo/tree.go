package main

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// showTree shows what each resource became, as `jacquard tree` does.
func (d *demo) showTree(ctx context.Context) error {
	ours, err := d.client.listCategory(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(ours, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetName(), b.GetName()))
	})
	d.screen.printHeading("What they became: jacquard tree")
	for _, i := range ours {
		out, err := d.runJacquard(ctx, "tree", i.crd+"/"+i.GetNamespace()+"/"+i.GetName(), "--kubeconfig", d.kubeconfigPath())
		if err != nil {
			return err
		}
		for line := range strings.Lines(out) {
			fmt.Fprint(d.screen, "  "+line)
		}
	}
	return nil
}

// runJacquard runs a command of the operator's program and returns what it printed.
func (d *demo) runJacquard(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(d.root, ".bin", "jacquard"), args...)
	cmd.Dir = d.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("running jacquard %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
