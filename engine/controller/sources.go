package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/roots"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/schema/compat"
)

// installCRDs applies the CRDs of all roots. That needs no Lease: whoever does it
// says the same, on the CRD as it was seen.
func (s *folderSources) installCRDs(ctx context.Context) error {
	writer := s.reportWriter
	if s.options.ReadOnly {
		writer = writer.ReadOnly()
	}
	for _, root := range s.options.Roots {
		contents, err := root.Read()
		if err != nil {
			return err
		}
		for _, file := range contents.CRDs {
			crd := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(file.Data, &crd.Object); err != nil {
				return fmt.Errorf("%s: %w", file.Shown, err)
			}
			err := apply.CRDsOf(writer).Install(ctx, crd, func(there *unstructured.Unstructured) error { return s.findBreaks(there, crd) })
			var broken breaking
			switch {
			case errors.As(err, &broken):
				// The kind is served with the CRD that is there; the others are not concerned.
				log.FromContext(ctx).Error(broken, "CRD not applied: it would break existing resources or clients; "+
					"change it, or run once with --allow-breaking", "kind", crd.GetName(), "file", file.Shown)
			case err != nil:
				return fmt.Errorf("installing %s: %w", file.Shown, err)
			}
		}
	}
	return nil
}

// A breaking is what a changed CRD would break.
type breaking []compat.Break

func (b breaking) Error() string {
	lines := make([]string, len(b))
	for i, one := range b {
		lines[i] = one.String()
	}
	return strings.Join(lines, "; ")
}

// findBreaks refuses to change the CRD that is there if that breaks something, unless it
// may.
func (s *folderSources) findBreaks(there, changed *unstructured.Unstructured) error {
	var crds [2]apiextensionsv1.CustomResourceDefinition
	for i, u := range []*unstructured.Unstructured{there, changed} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &crds[i]); err != nil {
			return fmt.Errorf("reading CRD %s: %w", u.GetName(), err)
		}
	}
	if broken := compat.Breaks(&crds[0], &crds[1]); len(broken) > 0 && !s.options.AllowBreaking {
		return breaking(broken)
	}
	return nil
}

// takeRoots takes what counts of the roots, and syncs the kinds whose folder changed.
func (s *folderSources) takeRoots(ctx context.Context, now roots.Reading) {
	s.mu.Lock()
	before := s.roots
	s.files, s.read, s.roots = now.Sources, true, now
	s.pickFolders()
	if !slices.EqualFunc(before.Missing, now.Missing, func(a, b roots.Missing) bool { return a.Root == b.Root }) {
		// Whether a kind without a folder is removed depends on it.
		for _, name := range s.kindsWhere(func(k *kindState) bool { return k.crd != nil }) {
			s.names.Add(name)
		}
	}
	s.mu.Unlock()
	reportRoots(ctx, before, now)
}

// reportRoots logs which roots went missing or came back, and which folders began to
// wait, and counts missing roots.
func reportRoots(ctx context.Context, before, now roots.Reading) {
	logger := log.FromContext(ctx)
	texts := map[string]string{}
	for _, m := range before.Missing {
		texts[m.Root] = m.Err.Error()
	}
	for _, m := range now.Missing {
		if texts[m.Root] != m.Err.Error() {
			logger.Error(m.Err, "root missing: its kinds are served as before", "root", m.Root)
		}
		metrics.RootMissing(m.Root, true)
		delete(texts, m.Root)
	}
	for root := range texts {
		logger.Info("root is there again", "root", root)
		metrics.RootMissing(root, false)
	}
	for _, w := range now.Waiting {
		if !slices.Contains(before.Waiting, w) {
			logger.Info("the folder lost files or parts of them, or cannot be read: it counts once nothing in its root has changed for a while",
				"kind", w.Kind, "root", w.Root, "while", roots.QuietPeriod.String())
		}
	}
}

// missingRoot returns why the folder of a kind that this installation serves may lie
// in a root that cannot be read, or nil.
func (s *folderSources) missingRoot(crd *apiextensionsv1.CustomResourceDefinition) error {
	s.mu.Lock()
	missing := s.roots.Missing
	s.mu.Unlock()
	if len(missing) == 0 || !s.shardOf(crd).Holds(shard.Claims(crd)) {
		return nil
	}
	var errs []error
	for _, m := range missing {
		errs = append(errs, fmt.Errorf("the folder may be in %s, which cannot be read: %w", m.Root, m.Err))
	}
	return errors.Join(errs...)
}

// startDelay returns how long what an operator found at its start must stay as it is
// before it counts, if it is less than what was served before: it may still be being
// copied. Later, the reader of the roots knows what was there.
func (p *kindPass) startDelay() time.Duration {
	o := p.o
	o.mu.Lock()
	k, changed := o.readState(p.name), o.sources.roots.Changed
	o.mu.Unlock()
	if k.hasCounted || p.in.Folder.Err != nil {
		return 0
	}
	isRooted := len(o.options.Roots) > 0 && (p.folder == nil || k.source.isRooted)
	if delay := changed.Add(roots.QuietPeriod).Sub(o.clock.Now()); isRooted && delay > 0 && p.hadMore() {
		return delay
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stateOf(p.name).hasCounted = true
	return 0
}

// hadMore reports whether the version that was served last had files, or parts of them,
// that the folder does not have.
func (p *kindPass) hadMore() bool {
	digest := p.in.Record.Rollout.Target().Digest
	if digest == "" || digest == p.in.Folder.Digest {
		return false
	}
	if p.folder == nil {
		return true
	}
	served, err := p.history.findRevision(digest)
	if err != nil {
		return false // what it had is not known
	}
	before, _, err := served.Folder()
	return err == nil && roots.LostPart(roots.FilesOf(before), roots.FilesOf(p.folder))
}
