package controller

import (
	"context"
	"errors"
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
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A kindPass is what one pass over a kind is about.
type kindPass struct {
	o    *kindManager
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
func (m *kindManager) observeKind(ctx context.Context, name string) *kindPass {
	known, role := m.apis.discovery.Served(), m.membership.currentRole()
	m.mu.Lock()
	seen := m.readState(name)
	p := &kindPass{o: m, name: name, definition: seen.crd, folder: seen.source.folder, running: seen.controller, in: kinds.Inputs{
		Name: name, CRDsListed: m.listed, FoldersRead: m.read && m.mapsRead, ReadOnly: m.options.ReadOnly, Running: seen.controller != nil,
		Role: role, StoresRevisions: m.options.reportNamespace() != "",
	}}
	m.mu.Unlock()
	unread, in := seen.source.unread, &p.in
	in.Folder.Present = seen.hasFolder()
	if p.crd = m.latestCRD(name); p.crd == nil {
		p.definition = nil
		return p
	}
	p.mine, p.history = m.shardOf(p.definition), m.revisions.newHistory(ctx, p.definition, seen.archives)
	in.CRD = &kinds.CRD{Established: isEstablished(p.definition), Storage: storageVersion(p.definition)}
	in.Record, in.Paused = m.readRecord(p.crd, p.mine), p.crd.GetAnnotations()[api.AnnotationPaused] == "true"
	in.Record.IsStale = seen.unread && m.dividesResources()
	p.observeClaim()
	in.Exclusive = !m.dividesResources() || m.inFlight.currentShare().IsExclusive(name) && m.share.hasListed(name)
	in.IsDiscovered = func(gvk apischema.GroupVersionKind) bool {
		_, found := known.Resource(gvk)
		return found
	}
	in.Version, in.NextNumber = p.findKind, p.nextNumber
	if !in.CRDsListed || !in.Folder.Present && (!in.FoldersRead || len(in.Record.Kinds) == 0) || !in.CRD.Established || in.Record.IsStale {
		return p // the folder does not matter
	}
	if !in.Folder.Present {
		unread = m.sources.missingRoot(p.definition)
		in.Folder.Present = unread != nil
	}
	if in.Folder.Present {
		in.Folder.Kind, in.Folder.Err = m.compileOnce(name, p.folder, unread, p.definition)
		in.Folder.Digest = digestOfKind(in.Folder.Kind)
	}
	p.settlesIn = p.startDelay()
	in.Folder.IsUnsettled = p.settlesIn > 0
	return p
}

// observeClaim observes who may serve the kind.
func (p *kindPass) observeClaim() {
	claims, in := shard.Claims(p.crd), &p.in
	key, text := p.mine.Claim()
	p.conflict = p.mine.Conflict(claims)
	switch {
	case p.conflict != nil:
		in.Claim, in.ClaimedBy = kinds.ClaimedElsewhere, errors.New(describeConflict(p.name, p.mine, *p.conflict))
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
func (m *kindManager) compileOnce(name string, f *folder.Folder, unread error, crd *apiextensionsv1.CustomResourceDefinition) (
	*kind.Kind, error,
) {
	if unread != nil {
		return nil, unread
	}
	served := m.apis.discovery.Served()
	m.mu.Lock()
	c := m.readState(name).compiled
	m.mu.Unlock()
	if c.folder == f && c.crd == crd.UID && c.generation == crd.Generation && c.served == served {
		return c.kind, c.err
	}
	c = compiledFolder{folder: f, crd: crd.UID, generation: crd.Generation, served: served}
	c.kind, c.err = m.compileFolder(f, crd)
	reconcile.NotePanic(name, c.err)
	if c.kind != nil {
		for _, ignored := range c.kind.Ignored() {
			m.mgr.GetLogger().Info("a field of kind.yaml is ignored", "kind", name, "place", ignored.Place.String(), "reason", ignored.Text)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stateOf(name).compiled = c
	return c.kind, c.err
}

// exclusiveTick is how often a leader looks again whether it has a kind to itself.
const exclusiveTick = time.Second

// requestKind requests a kind from the other replicas, since its folder is to be rolled out.
// Meanwhile it lists what they serve.
func (m *kindManager) requestKind(p *kindPass, d kinds.Desired) {
	m.membership.member.SetExclusive(p.name, true)
	m.recordSynced(p.name, nil) // what is known is about the folder before
	if p.running == nil {
		m.lists.startListing(p.servedAs(d), p.definition)
	}
}

// returnKind returns a kind to the other replicas, unless its folder is being rolled out, or one
// of them cannot serve it.
func (m *kindManager) returnKind(p *kindPass, d kinds.Desired) {
	if m.dividesResources() && p.in.Role == kinds.Leader {
		m.mu.Lock()
		areUnable := m.readState(p.name).areUnable
		m.mu.Unlock()
		m.membership.member.SetExclusive(p.name, d.IsRollingOut() || areUnable)
	}
}
