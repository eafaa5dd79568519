package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// A kindPass is what one pass over a kind is about.
type kindPass struct {
	o    *Operator
	name string
	in   kinds.Inputs
	// definition is the CRD as last seen, and crd its metadata as last seen or as our last
	// write was answered. Both are nil if there is none.
	definition *apiextensionsv1.CustomResourceDefinition
	crd        metav1.Object
	mine       shard.Shard
	// folder is nil if there is none that can be read.
	folder  *folder.Folder
	running *kindController
	history *history
	// conflict is the claim of another installation, or nil.
	conflict *shard.Claim
	// settlesIn is how long the folder must stay as it is before it counts, or 0.
	settlesIn time.Duration
}

// observeKind gathers everything that decides what becomes of a kind.
func (o *Operator) observeKind(ctx context.Context, name string) *kindPass {
	known, role := o.discovery.Served(), o.currentRole()
	o.mu.Lock()
	seen := o.seen(name)
	p := &kindPass{o: o, name: name, definition: seen.crd, folder: seen.source.folder, running: seen.controller, in: kinds.Inputs{
		Name: name, CRDsListed: o.listed, FoldersRead: o.read && o.mapsRead, ReadOnly: o.options.ReadOnly, Running: seen.controller != nil,
		Role: role, StoresRevisions: o.options.home() != "",
	}}
	o.mu.Unlock()
	unread, in := seen.source.unread, &p.in
	in.Folder.Present = seen.named()
	if p.crd = o.crd(name); p.crd == nil {
		p.definition = nil
		return p
	}
	p.mine, p.history = o.shardOf(p.definition), o.newHistory(ctx, p.definition, seen.archives)
	in.CRD = &kinds.CRD{Established: established(p.definition), Storage: storageVersion(p.definition)}
	in.Record, in.Paused = kinds.ReadRecord(p.crd, p.mine), p.crd.GetAnnotations()[api.AnnotationPaused] == "true"
	in.Record.IsStale = seen.unread && o.dividesResources()
	p.observeClaim()
	in.Exclusive = !o.dividesResources() || o.inFlight.currentShare().IsExclusive(name) && o.hasListed(name)
	in.IsDiscovered = func(gvk apischema.GroupVersionKind) bool {
		_, found := known.Resource(gvk)
		return found
	}
	in.Version, in.NextNumber = p.findKind, p.nextNumber
	if !in.CRDsListed || !in.Folder.Present && (!in.FoldersRead || len(in.Record.Kinds) == 0) || !in.CRD.Established || in.Record.IsStale {
		return p // the folder does not matter
	}
	if !in.Folder.Present {
		unread = o.missingRoot(p.definition)
		in.Folder.Present = unread != nil
	}
	if in.Folder.Present {
		in.Folder.Kind, in.Folder.Err = o.compileOnce(name, p.folder, unread, p.definition)
		in.Folder.Digest = digest(in.Folder.Kind)
	}
	p.settlesIn = p.startDelay()
	in.Folder.IsUnsettled = p.settlesIn > 0
	return p
}

// currentRole returns the role of this process in its installation.
func (o *Operator) currentRole() kinds.Role {
	share := o.inFlight.currentShare()
	switch {
	case !o.dividesResources() && !share.Leads:
		return kinds.Candidate
	case share.Leads:
		return kinds.Leader
	case share.IsNothing():
		return kinds.Unassigned
	}
	return kinds.Follower
}

// observeClaim observes who may serve the kind.
func (p *kindPass) observeClaim() {
	claims, in := shard.Claims(p.crd), &p.in
	key, text := p.mine.Claim()
	p.conflict = p.mine.Conflict(claims)
	switch {
	case p.conflict != nil:
		in.Claim, in.ClaimedBy = kinds.ClaimedElsewhere, errors.New(elsewhere(p.name, p.mine, *p.conflict))
	case p.crd.GetAnnotations()[key] == text:
		in.Claim = kinds.Claimed
	case p.mine.Holds(claims):
		in.Claim = kinds.ClaimedChanged
	}
}

// findKind returns the folder of a revision, compiled for the present CRD.
func (p *kindPass) findKind(digest string) (*kind.Kind, error) {
	if p.running != nil {
		v, _ := p.running.versions.findVersion(digest)
		if v != nil && v.Kind != nil && v.Kind.CRD.Object.UID == p.definition.UID && v.Kind.CRD.Object.Generation == p.definition.Generation {
			return v.Kind, nil
		}
	}
	return p.history.compileRevision(digest)
}

// nextNumber returns the number of a folder that begins to serve: that of a rollout which is not on
// record yet, or the next one.
func (p *kindPass) nextNumber(digest string) int64 {
	if p.running != nil {
		if _, number := p.running.versions.findVersion(digest); number > p.in.Record.Rollout.Target().Number {
			return number
		}
	}
	return p.history.nextNumber(digest, p.in.Record.Rollout)
}

// servedAs returns the kind in the version in which its resources are served.
func (p *kindPass) servedAs(d kinds.Desired) apischema.GroupVersionKind {
	if k := d.LatestKind(); k != nil {
		return k.GVK
	}
	return p.in.CRD.Storage
}

// completeVersions returns the versions that serve resources, as the reconciler needs them. Without
// any, resources can only be deleted.
func (p *kindPass) completeVersions(d kinds.Desired) (all []servedVersion) {
	for _, v := range d.Versions {
		s := servedVersion{Revision: v.Revision, err: v.Err}
		if v.Kind != nil {
			s.version = &observe.Version{Name: p.name, Kind: v.Kind}
		}
		all = append(all, s)
	}
	if d.Mode == kinds.DeleteOnly {
		v := &observe.Version{Name: p.name, Broken: d.Err, Removed: d.Reason == kinds.FolderRemoved}
		if v.Broken == nil && !v.Removed {
			v.Broken = errors.New("no revision of the folder can be used")
		}
		all = []servedVersion{{version: v}}
	}
	for _, s := range all {
		if s.version != nil {
			p.o.completeVersion(s.version, p.definition, p.crd)
		}
	}
	return all
}

// A compiledFolder is what a folder was compiled to, with what that depends on.
type compiledFolder struct {
	folder     *folder.Folder
	crd        types.UID
	generation int64
	served     *cluster.Served
	kind       *kind.Kind
	err        error
}

// compileOnce compiles a folder for a CRD, unless it has done so already.
func (o *Operator) compileOnce(name string, f *folder.Folder, unread error, crd *apiextensionsv1.CustomResourceDefinition) (
	*kind.Kind, error,
) {
	if unread != nil {
		return nil, unread
	}
	served := o.discovery.Served()
	o.mu.Lock()
	c := o.seen(name).compiled
	o.mu.Unlock()
	if c.folder == f && c.crd == crd.UID && c.generation == crd.Generation && c.served == served {
		return c.kind, c.err
	}
	c = compiledFolder{folder: f, crd: crd.UID, generation: crd.Generation, served: served}
	if c.kind, c.err = o.compileFolder(f, crd); c.kind != nil {
		for _, ignored := range c.kind.Ignored() {
			o.mgr.GetLogger().Info("a field of kind.yaml is ignored", "kind", name, "place", ignored.Place.String(), "reason", ignored.Text)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.state(name).compiled = c
	return c.kind, c.err
}

// exclusiveTick is how often a leader looks again whether it has a kind to itself.
const exclusiveTick = time.Second

// requestKind requests a kind from the other replicas, since its folder is to be rolled out.
// Meanwhile it lists what they serve.
func (o *Operator) requestKind(ctx context.Context, p *kindPass, d kinds.Desired) error {
	o.member.SetExclusive(p.name, true)
	o.recordSynced(p.name, nil) // what is known is about the folder before
	if p.running != nil {
		return nil
	}
	if _, err := o.list(ctx, p.servedAs(d), p.definition); err != nil {
		return fmt.Errorf("listing kind %s: %w", p.name, err)
	}
	return nil
}

// returnKind returns a kind to the other replicas, unless its folder is being rolled out, or one
// of them cannot serve it.
func (o *Operator) returnKind(p *kindPass, d kinds.Desired) {
	if o.dividesResources() && p.in.Role == kinds.Leader {
		o.mu.Lock()
		areUnable := o.seen(p.name).areUnable
		o.mu.Unlock()
		o.member.SetExclusive(p.name, d.IsRollingOut() || areUnable)
	}
}
