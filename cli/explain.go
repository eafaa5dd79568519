//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/explain"
)

type explainOptions struct {
	reach
	roots   []string
	config  string
	cluster string
	golden  string
	output  string
	full    bool

	catalog *catalog.Catalog
	reports []*explain.Report
}

func newExplain() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain NAME/[NAMESPACE/]RESOURCE… | FILE… | --case NAME/CASE",
		Short: "Explain why a resource has its children",
		Long: `Explain why a resource has its children. For every file of its kind, print which
branches were taken and which were not, with their places and the results of their
conditions; what the file waits for; which documents it rendered, and which branch
left out the others.

NAME/RESOURCE is a live resource; NAME is that of its CRD, or kind, plural or short
name. Then the output also shows for every child whether it is ready, when it was
last applied, and who else owns which of its fields. FILE contains resources (- is
stdin), and --case is a golden case. Neither needs a cluster; --cluster-file is a file
that stands for one.

Of values, only numbers, booleans and lengths are shown; of Secrets, nothing.`,
		Example: `  jacquard explain webs.example.com/team-a/shop
  jacquard explain resource.yaml --cluster-file cluster.yaml
  jacquard explain --case apps.example.com/plain`,
		Args: func(_ *cobra.Command, args []string) error { return o.checkArgs(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.config)
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.cluster, "cluster-file", "", "with FILE: file with objects that stand for the cluster")
	cmd.Flags().StringVar(&o.golden, "case", "", "a golden case, `NAME/CASE`")
	cmd.Flags().BoolVarP(&o.full, "full", "v", false, "list all fields of other field managers")
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	return cmd
}

// checkArgs checks the command line.
func (o *explainOptions) checkArgs(args []string) error {
	switch {
	case o.output != "text" && o.output != "json":
		return fmt.Errorf("--output is text or json, not %s", o.output)
	case o.golden == "" && len(args) == 0:
		return errors.New("a NAME/RESOURCE, FILE or --case is missing")
	case o.golden != "" && (len(args) > 0 || o.cluster != ""):
		return errors.New("--case stands alone: the case has its resource and its cluster.yaml")
	}
	return nil
}

func (o *explainOptions) run(cmd *cobra.Command, args []string) (err error) {
	if o.catalog, err = loadCatalog(o.roots, o.config); err != nil {
		return err
	}
	var errs []error
	if o.golden != "" {
		errs = append(errs, o.goldenCase(cmd.Context()))
	}
	rest, err := o.explainLive(cmd.Context(), args)
	errs = append(errs, err)
	for _, arg := range rest {
		errs = append(errs, o.explainFile(cmd, arg))
	}
	return errors.Join(append(errs, o.printReports(cmd))...)
}

// printReports prints the explanations in the wanted form.
func (o *explainOptions) printReports(cmd *cobra.Command) error {
	if o.output == "json" {
		return encodeJSON(cmd.OutOrStdout(), append([]*explain.Report{}, o.reports...))
	}
	for i, r := range o.reports {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := explain.Write(stripControls(cmd.OutOrStdout()), r, o.full); err != nil {
			return err
		}
	}
	return nil
}

// goldenCase explains a golden case.
func (o *explainOptions) goldenCase(ctx context.Context) error {
	word, of, _ := strings.Cut(o.golden, "/")
	names, err := kindsNamed(o.catalog, []string{word})
	if err != nil {
		return fmt.Errorf("explaining %s: %w", o.golden, err)
	}
	name := names[0]
	if err := o.catalog.Broken[name]; err != nil {
		return err
	}
	cases, err := o.catalog.Cases(name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cases, func(c *catalog.Case) bool { return c.Name == of })
	if i < 0 {
		var known []string
		for _, c := range cases {
			known = append(known, c.Name)
		}
		return fmt.Errorf("explaining %s: there is no such case; %s", o.golden, suggestName(of, known))
	}
	out, err := o.catalog.Run(ctx, cases[i])
	if err != nil {
		return err
	}
	if out.Traced == nil {
		return fmt.Errorf("explaining %s: the API server would refuse the resource: %w", o.golden, out.Err)
	}
	o.reports = append(o.reports, explain.Of(explain.Input{Kind: out.Resource.Kind, Resource: out.Resource.Object, Traced: out.Traced}))
	return nil
}

// explainFile explains the resources of a file.
func (o *explainOptions) explainFile(cmd *cobra.Command, name string) error {
	file, err := catalog.Open(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	var given *catalog.File
	if o.cluster != "" {
		if given, err = catalog.Open(o.cluster, cmd.InOrStdin()); err != nil {
			return err
		}
	}
	resources, others, err := o.catalog.Resources(file.Objects)
	if err == nil && len(resources) == 0 {
		err = fmt.Errorf("explaining %s: there is no resource of a known kind; known are: %s", name, o.catalog.Known())
	}
	if err != nil {
		return err
	}
	cluster, err := o.catalog.Cluster(given, others)
	if err != nil {
		return err
	}
	for _, r := range resources {
		traced := explain.TraceRender(cmd.Context(), r.Kind, r.Object, cluster.For(r.Kind, r.Object))
		o.reports = append(o.reports, explain.Of(explain.Input{Kind: r.Kind, Resource: r.Object, Traced: traced}))
	}
	return nil
}
