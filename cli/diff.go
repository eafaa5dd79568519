//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/history"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// exitWrong is the exit code of diff for errors: there 1 means that there are changes.
const exitWrong = 2

// diffOptions are the flags of `jacquard diff` and what was found with them.
type diffOptions struct {
	reach
	roots   []string
	config  string
	output  string
	all     bool
	full    bool
	abreast int
	// revision is what a person calls the revision to look at; operatorNamespace is where it
	// is kept.
	revision, operatorNamespace string
	// identity is the installation whose resources are looked at.
	identity string

	*sight
	results []*diff.Resource
	impacts []*diff.Impact
	outcome diff.Outcome
	errs    []error
}

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff FILE… | NAME/[NAMESPACE/]RESOURCE… | --all [NAME…]",
		Short: "Show what the operator would change in a cluster",
		Long: `Show what the operator would do with these folders, and change nothing: whether it
would create, change, recreate, patch, prune, block or refuse each child, or
release the fields of a patch, and which fields would change. It is the operator's
own plan, and every write is tried as a server-side dry run.

FILE contains new or changed custom resources (- is stdin). First, the API server
is asked for the result of applying them. NAME/RESOURCE is a live resource; NAME is
that of its CRD, or kind, plural or short name. --all looks at every resource of
the kinds NAME, or of all folders: what these folders would change and delete, how
many resources become not ready by their health expressions, and what would stop
their rollout.

With --revision, it looks at a revision of the folder that the operator keeps (see
history), and not at the folder of --root.

Values of Secrets are never shown. If you may not read or try something, it is
reported for that child, with the missing rule.

The exit code is 0 if nothing would change, 1 if something would or a resource
becomes not ready, and 2 for errors, also if a child is refused, or something may not
be read.`,
		Example: `  jacquard diff resource.yaml
  jacquard diff webs.example.com/team-a/shop
  jacquard diff --root NEW --all`,
		Args: func(_ *cobra.Command, args []string) error { return o.checkArgs(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.run(cmd, args); err != nil {
				return &exit{exitWrong, err}
			}
			if o.outcome == diff.Changes {
				return &exit{exitFailed, errFindings}
			}
			return nil
		},
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.config)
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "look at every resource of the kinds")
	cmd.Flags().BoolVarP(&o.full, "full", "v", false, "also show unchanged children; with --all, show the differences of every resource")
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text, json or markdown (for a comment)")
	cmd.Flags().StringVar(&o.identity, "installation", "",
		"with --all: only look at the resources of this installation; required if several serve a shard of the kind each")
	cmd.Flags().StringVar(&o.revision, "revision", "", "look at this revision of the kind's folder: its number, or at least six characters of its digest")
	operatorNamespaceFlag(cmd, &o.operatorNamespace, "", "with --revision: namespace of the operator; default any")
	cmd.MarkFlagsMutuallyExclusive("revision", "root")
	cmd.MarkFlagsMutuallyExclusive("revision", "config")
	cmd.Flags().IntVar(&o.abreast, "parallel", 8, "with --all: number of resources to look at at the same time")
	return cmd
}

// checkArgs checks the command line.
func (o *diffOptions) checkArgs(args []string) error {
	switch {
	case !slices.Contains([]string{"text", "json", "markdown"}, o.output):
		return fmt.Errorf("--output is text, json or markdown, not %s", o.output)
	case o.abreast < 1:
		return errors.New("--parallel is at least 1")
	case o.revision != "" && len(args) == 0:
		return errors.New("--revision is that of one kind's folder: name the kind")
	case !o.all && len(args) == 0:
		return errors.New("a FILE or NAME/RESOURCE is missing; --all looks at every resource")
	}
	return nil
}

func (o *diffOptions) run(cmd *cobra.Command, args []string) error {
	var kinds *catalog.Catalog
	var err error
	if o.revision == "" {
		if kinds, err = loadCatalog(o.roots, o.config); err != nil {
			return err
		}
	}
	if o.sight, err = o.openSight(cmd.Context(), kinds); err != nil {
		return err
	}
	if o.revision != "" {
		o.sight.kept = o.compileRevision
	}
	if o.all {
		o.diffAll(cmd.Context(), args)
	} else {
		for _, arg := range args {
			o.diffArgument(cmd, arg)
		}
	}
	if err := o.printResults(cmd); err != nil {
		return err
	}
	if o.outcome == diff.Wrong {
		o.errs = append(o.errs, errFindings)
	}
	return errors.Join(o.errs...)
}

// addError records an error, or nothing for nil. The other resources go on.
func (o *diffOptions) addError(err error) { o.errs = append(o.errs, err) }

// diffAll looks at all resources of the kinds that are named, or of all folders. In the latter
// case, a folder whose kind the cluster does not have is a note and no error.
func (o *diffOptions) diffAll(ctx context.Context, names []string) {
	for _, name := range names {
		o.diffKind(ctx, name)
	}
	if len(names) > 0 {
		return
	}
	for _, err := range o.catalog.Faults() {
		o.addError(err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.catalog.Kinds)) {
		_, group, _ := strings.Cut(name, ".")
		if len(o.Served().Named(name)) > 0 || o.Served().Unknown(group) != nil {
			o.diffKind(ctx, name)
			continue
		}
		o.impacts = append(o.impacts, &diff.Impact{Kind: name, Resources: []*diff.Resource{},
			Notes: []string{"the cluster does not have this kind"}})
	}
}

// diffKind looks at all resources of a kind.
func (o *diffOptions) diffKind(ctx context.Context, name string) {
	s, err := o.compileFolder(ctx, name)
	if err == nil {
		err = s.Kind.Look(o.identity)
	}
	if err != nil {
		o.addError(err)
		return
	}
	i, err := s.All(ctx, diff.Scope{Namespace: o.namespace, Abreast: o.abreast})
	if err != nil {
		o.addError(err)
		return
	}
	o.impacts = append(o.impacts, i)
	o.outcome = max(o.outcome, i.Outcome())
}

// diffArgument looks at one resource, or at those of a file.
func (o *diffOptions) diffArgument(cmd *cobra.Command, arg string) {
	if t, ok := targetOf(arg, o.chooseNamespace()); ok {
		o.addError(o.diffLive(cmd.Context(), t))
		return
	}
	file, err := catalog.Open(arg, cmd.InOrStdin())
	o.addError(err)
	if file == nil {
		return
	}
	if err == nil && len(file.Objects) == 0 {
		o.addError(fmt.Errorf("no resources in %s", file.Name))
	}
	for _, object := range file.Objects {
		o.addError(o.diffObject(cmd.Context(), object))
	}
}

// diffLive looks at a resource as it is in the cluster.
func (o *diffOptions) diffLive(ctx context.Context, t target) error {
	s, err := o.compileFolder(ctx, t.kind)
	if err != nil {
		return err
	}
	resource, err := o.read(ctx, s.Kind, t)
	if err != nil {
		return err
	}
	r := s.Of(ctx, resource)
	if server := health.ServerOf(ctx, s.Survey, s.Kind, resource); server != nil {
		r.Notes = append(r.Notes, server.Text)
	}
	o.add(r)
	return nil
}

// diffObject looks at a resource as a file defines it.
func (o *diffOptions) diffObject(ctx context.Context, object *catalog.Object) error {
	doc := (&unstructured.Unstructured{Object: object.Object}).DeepCopy()
	gk := doc.GroupVersionKind().GroupKind()
	if o.catalog != nil && o.catalog.Foreign(gk) { // a revision has no catalog
		return nil
	}
	served, found := o.Served().Preferred(gk)
	if !found {
		return fmt.Errorf("%s: the cluster has no kind %s; install its CRD first", object.Place("kind"), gk)
	}
	s, err := o.compileFolder(ctx, served.GVR.GroupResource().String())
	if err != nil {
		return fmt.Errorf("%s: %w", object.Place(""), err)
	}
	if doc.GetName() == "" {
		return fmt.Errorf("%s: it has no metadata.name; give it the name that it is to have", object.Place("metadata"))
	}
	if served.Namespaced && doc.GetNamespace() == "" {
		doc.SetNamespace(o.chooseNamespace())
	}
	live, err := s.Get(ctx, s.Kind, doc.GetNamespace(), doc.GetName())
	if err != nil {
		return fmt.Errorf("%s: %w", object.Place(""), err)
	}
	resource, self := s.Try(ctx, doc, live)
	if resource == nil && self.Verb == diff.Unknown {
		resource = o.guessAdmitted(object, doc, live)
	}
	self.Place = object.Place("")
	r := diff.New(s.Kind.Name, doc)
	if resource != nil {
		r = s.Of(ctx, resource)
	}
	r.Self = self
	o.add(r)
	return nil
}

// compileRevision compiles the revision of a kind's folder that --revision names.
func (o *diffOptions) compileRevision(ctx context.Context, k *liveview.Kind) (*kind.Kind, error) {
	if err := k.Look(o.identity); err != nil {
		return nil, err
	}
	h, err := history.Of(ctx, o.Survey, k, history.Place{Namespace: o.operatorNamespace, Fallback: o.chooseNamespace()})
	if err != nil {
		return nil, err
	}
	return h.Compiled(o.Survey, o.revision)
}

// guessAdmitted returns what the server would presumably make of a document that the caller may not
// try. It knows only the schema, and returns nil if the schema refuses the document.
func (o *diffOptions) guessAdmitted(object *catalog.Object, doc, live *unstructured.Unstructured) *unstructured.Unstructured {
	if o.catalog == nil { // a revision has no schema
		return nil
	}
	found, _, err := o.catalog.Resources([]*catalog.Object{object})
	if err != nil || len(found) != 1 {
		return nil
	}
	resource := found[0].Object
	resource.SetNamespace(doc.GetNamespace())
	resource.SetUID("00000000-0000-0000-0000-000000000000")
	if live != nil {
		resource.SetUID(live.GetUID())
		resource.SetFinalizers(live.GetFinalizers())
		resource.Object["status"] = live.Object["status"]
	}
	return resource
}

func (o *diffOptions) add(r *diff.Resource) {
	o.results = append(o.results, r)
	o.outcome = max(o.outcome, r.Outcome())
}

// printResults prints what was found in the wanted form.
func (o *diffOptions) printResults(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	if o.output == "json" {
		if o.all {
			return encodeJSON(w, append([]*diff.Impact{}, o.impacts...))
		}
		return encodeJSON(w, append([]*diff.Resource{}, o.results...))
	}
	if o.output == "markdown" {
		return o.formatMarkdown().write(w)
	}
	for _, r := range o.results {
		printDiff(stripControls(w), r, o.full)
	}
	for _, i := range o.impacts {
		printImpact(stripControls(w), i, o.full)
	}
	return nil
}
