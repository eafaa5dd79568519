package kinds

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// A Mode determines how the operator treats a kind.
type Mode string

const (
	// Undecided: too little is known. Whatever is running continues until an event brings
	// more information.
	Undecided Mode = "Undecided"
	// Stopped: nothing of the kind is watched or served.
	Stopped Mode = "Stopped"
	// Standby: everything is watched, but nothing is served until this process leads.
	Standby Mode = "Standby"
	// DeleteOnly: there are no templates. Children stay as they are, and resources can be
	// deleted.
	DeleteOnly Mode = "DeleteOnly"
	// Serve: revisions of the folder serve the resources.
	Serve Mode = "Serve"
)

// A Reason explains the mode of a kind.
type Reason string

// The reasons, with the mode that each explains.
const (
	CRDsNotListed    Reason = "CRDsNotListed"    // Undecided: there may be a CRD
	FoldersNotRead   Reason = "FoldersNotRead"   // Undecided: there may be a folder
	FolderUnsettled  Reason = "FolderUnsettled"  // Undecided: the folder may be being copied
	RecordStale      Reason = "RecordStale"      // Undecided: the record has to be read first
	NotDiscovered    Reason = "NotDiscovered"    // Undecided: discovery does not list the kind yet
	NotExclusive     Reason = "NotExclusive"     // Undecided: other replicas still serve the kind
	NoLease          Reason = "NoLease"          // Undecided: this replica has no share yet
	LeaderRollsOut   Reason = "LeaderRollsOut"   // Undecided: the leader serves the whole kind
	NoCRD            Reason = "NoCRD"            // Stopped
	NotEstablished   Reason = "NotEstablished"   // Stopped: the API server does not serve the CRD
	NoFolder         Reason = "NoFolder"         // Stopped: no folder, and no children either
	ServedElsewhere  Reason = "ServedElsewhere"  // Stopped: another installation has the claim
	RevisionMissing  Reason = "RevisionMissing"  // Stopped: this follower cannot serve its share
	NoStorageVersion Reason = "NoStorageVersion" // Stopped: the CRD is invalid
	FolderRemoved    Reason = "FolderRemoved"    // DeleteOnly
	FolderInvalid    Reason = "FolderInvalid"    // Serve with the last valid revisions, or DeleteOnly
	RolledBack       Reason = "RolledBack"       // Serve: an earlier revision replaces the folder
	RollbackFailed   Reason = "RollbackFailed"   // Serve as before: the earlier revision cannot be used
	NotRolledBack    Reason = "NotRolledBack"    // Serve as before: kind.yaml wants a rollback, which is not possible
)

// A Version is a revision with its compiled folder, or the reason why it cannot be used.
type Version struct {
	Revision rollout.Revision
	Kind     *kind.Kind // nil if Err is set
	Err      error
}

// Desired is the desired state of a kind.
type Desired struct {
	Mode   Mode
	Reason Reason
	// Err explains the reason, for people. It may be nil.
	Err error
	// Versions serve the resources in mode Serve: the base first and the target last, as in
	// Record.Revisions. A single version means that there is no rollout. Resources of a
	// version with an Err are frozen. The target never has one.
	Versions []Version
	// Paused is true if nothing is to be changed. Deletions continue.
	Paused bool
	// IsRevert is true if the target returns to the base of an unfinished rollout.
	IsRevert bool
	// Rollback is the rollback that the target carries out, or zero.
	Rollback rollout.Rollback
	// Halted is why the rollout must not continue: its folder was rolled back, and that
	// cannot be carried out. It is empty otherwise.
	Halted string
	// Writes must be made to the record before anything else happens.
	Writes Writes
}

// IsServed reports whether resources of the kind are served, if only to be deleted.
func (d Desired) IsServed() bool { return d.Mode == Serve || d.Mode == DeleteOnly }

// IsRollingOut reports whether a target is being rolled out.
func (d Desired) IsRollingOut() bool { return d.Mode == Serve && len(d.Versions) > 1 }

// Revisions returns the revisions of the versions.
func (d Desired) Revisions() []rollout.Revision {
	all := make([]rollout.Revision, len(d.Versions))
	for i, v := range d.Versions {
		all[i] = v.Revision
	}
	return all
}

// A CRD contains the known facts about the CRD of a kind.
type CRD struct {
	Established bool
	// Storage is the storage version, or empty if the CRD has none.
	Storage schema.GroupVersionKind
}

// A Folder is the folder chosen for a kind.
type Folder struct {
	// Present is false if no source has a folder for the kind.
	Present bool
	// Digest and Kind are set if the folder loads; otherwise Err is.
	Digest string
	Kind   *kind.Kind
	Err    error
	// IsUnsettled is true for a folder that may be being copied: it has less than what was
	// served last, and has changed just now.
	IsUnsettled bool
}

// A Role is the role of this process in its installation.
type Role int

const (
	// Leader: it serves resources and controls rollouts.
	Leader Role = iota
	// Follower: it serves a share of the resources with what the leader has rolled out.
	Follower
	// Candidate: it serves nothing until it becomes the leader.
	Candidate
	// Unassigned: it has not been given a share yet.
	Unassigned
)

// A Claim is who may serve a kind, according to its CRD.
type Claim int

// Whose claim a kind has.
const (
	Unclaimed        Claim = iota
	Claimed                // by this installation
	ClaimedChanged         // by this installation, for other resources than it is to serve now
	ClaimedElsewhere       // by an installation that may serve some of the same resources
)

// Inputs are everything that Decide depends on.
type Inputs struct {
	// Name is that of the kind, for messages.
	Name string
	// CRDsListed and FoldersRead are false until all CRDs and all sources of folders have
	// been read once.
	CRDsListed, FoldersRead bool
	CRD                     *CRD // nil if there is none
	Record                  Record
	Folder                  Folder
	Role                    Role
	Claim                   Claim
	// ClaimedBy explains a claim by another installation.
	ClaimedBy error
	// Exclusive is true if no other replica serves resources of the kind.
	Exclusive bool
	// Running is true if the kind is being served, Paused if a person has paused it, and
	// ReadOnly if nothing may be written.
	Running, Paused, ReadOnly bool
	// StoresRevisions is false if revisions do not survive a restart.
	StoresRevisions bool
	// Version returns the revision with a digest, compiled for the present CRD. It comes from
	// memory if it is in use, and from storage otherwise.
	Version func(digest string) (*kind.Kind, error)
	// NextNumber returns the number of a folder with this digest that begins to serve. It is
	// greater than all that may be on children.
	NextNumber func(digest string) int64
	// IsDiscovered reports whether discovery lists a kind.
	IsDiscovered func(schema.GroupVersionKind) bool
}

var errUnclaimed = errors.New("nobody claims the kind, and this installation has no folder for it")

// Decide returns the desired state of a kind. It is a pure function: nothing but the inputs
// matters.
func Decide(in Inputs) Desired {
	// 1. Draw no conclusions from missing knowledge.
	switch {
	case !in.CRDsListed:
		return Desired{Mode: Undecided, Reason: CRDsNotListed}
	case !in.Folder.Present && !in.FoldersRead:
		return Desired{Mode: Undecided, Reason: FoldersNotRead}
	}

	// 2. Is there anything to serve, and is it ours to serve?
	switch {
	case in.CRD == nil:
		return Desired{Mode: Stopped, Reason: NoCRD}
	case !in.CRD.Established:
		return Desired{Mode: Stopped, Reason: NotEstablished}
	case in.Record.IsStale:
		return Desired{Mode: Undecided, Reason: RecordStale}
	case !in.Folder.Present && len(in.Record.Kinds) == 0:
		return Desired{Mode: Stopped, Reason: NoFolder}
	case in.Folder.IsUnsettled:
		return Desired{Mode: Undecided, Reason: FolderUnsettled}
	case in.Claim == ClaimedElsewhere:
		return Desired{Mode: Stopped, Reason: ServedElsewhere, Err: in.ClaimedBy}
	case in.Claim == Unclaimed && (!in.Folder.Present || in.Role == Follower):
		return Desired{Mode: Stopped, Reason: ServedElsewhere, Err: errUnclaimed}
	case in.Role == Unassigned:
		return Desired{Mode: Undecided, Reason: NoLease}
	}

	// 3. Which revisions serve it?
	d := in.decideVersions()
	if !d.IsServed() {
		return d
	}
	d.Paused = in.Paused || in.ReadOnly

	// 4. Can they serve it now?
	gvk := in.CRD.Storage
	if k := d.LatestKind(); k != nil {
		gvk = k.GVK
	}
	switch {
	case gvk.Empty():
		return Desired{Mode: Stopped, Reason: NoStorageVersion, Err: errors.New("the CRD has no storage version")}
	case !in.IsDiscovered(gvk):
		return Desired{Mode: Undecided, Reason: NotDiscovered}
	case in.Role == Candidate:
		d.Mode, d.Writes = Standby, Writes{}
		return d
	case d.IsRollingOut() && !in.Exclusive:
		d.Mode, d.Reason, d.Writes = Undecided, NotExclusive, Writes{}
		return d
	case in.ReadOnly || in.Role == Follower:
		d.Writes = Writes{}
		return d
	}
	d.Writes.Kinds = d.unrecordedKinds(in.Record.Kinds)
	if k := d.LatestKind(); k != nil && !k.DeletionSettings().Equal(in.Record.Deletion) {
		settings := k.DeletionSettings()
		d.Writes.Deletion = &settings
	}
	// Removing the claim from a kind that is being served hands it over to others.
	d.Writes.Claim = in.Claim != Claimed && !in.Running
	return d
}

// decideVersions determines which revisions serve a kind that is ours.
func (in Inputs) decideVersions() Desired {
	switch {
	case in.Role == Follower:
		return in.decideFollower()
	case in.Folder.Present:
		return in.decideLeader()
	}
	d := Desired{Mode: DeleteOnly, Reason: FolderRemoved}
	if removed := in.Record.Rollout; len(removed.Revisions) > 0 && removed.State != rollout.Removed {
		removed.State = rollout.Removed
		d.Writes.Rollout = &removed
	}
	return d
}

// decideLeader determines which revisions serve a kind that has a folder.
func (in Inputs) decideLeader() Desired {
	d := Desired{Mode: Serve}
	record, rollback := in.Record.Rollout, in.Record.Rollback
	last := record.Target()

	// What should eventually serve every resource: the folder; or the previous target, if the
	// folder does not load; or the revision that a rollback puts in the place of either.
	digest := in.Folder.Digest
	if in.Folder.Err != nil {
		d.Reason, d.Err, digest = FolderInvalid, in.Folder.Err, last.Digest
	}
	if in.wantsRollback() { // from here on, this is as if a person had rolled back
		if err := in.checkRollback(); err != nil {
			d.Reason, d.Err = NotRolledBack, err
		} else {
			rollback, record = record.RollBack()
			d.Writes.Rollback, d.Writes.Rollout = &rollback, &record
		}
	}
	switch {
	case rollback.AppliesTo(digest):
		if v := in.lookUpVersion(rollout.Revision{Digest: rollback.To}); v.Err == nil {
			d.Reason, digest = RolledBack, rollback.To
		} else { // what serves now continues: nobody wants to go forward
			d.Reason = RollbackFailed
			d.Err = fmt.Errorf("rolled back, and %w; to serve the folder: jacquard rollback %s --end", v.Err, in.Name)
			if digest = last.Digest; digest == rollback.From {
				d.Halted = d.Err.Error()
			}
		}
	case in.Folder.Err == nil && rollback.EndsWith(digest):
		d.Writes.Rollback = &rollout.Rollback{}
	}
	if digest == rollback.To {
		d.Rollback = rollback
	}

	// What it replaces. A folder that returns becomes a new revision: see rollout.Revision.
	target := in.lookUpVersion(rollout.Revision{Digest: digest})
	if target.Kind == nil {
		if d.Err == nil {
			d.Err = target.Err
		}
		return Desired{Mode: DeleteOnly, Reason: d.Reason, Err: d.Err, Writes: d.Writes}
	}
	switch {
	case last.Digest == digest:
		target.Revision = last
	default:
		target.Revision.Number = in.NextNumber(digest)
	}
	if len(in.Record.Kinds) == 0 { // there are no children that it could affect
		d.Versions = []Version{target}
		d.Writes.Rollout = newRecord(record, target.Revision)
		return d
	}
	for _, r := range record.Revisions {
		d.Versions = append(d.Versions, in.lookUpVersion(r))
	}
	if len(d.Versions) == 0 {
		d.Versions = append(d.Versions, in.lookUpVersion(rollout.Revision{Digest: rollout.Unknown}))
	}
	if last.Digest == digest {
		d.Versions[len(d.Versions)-1] = target
	} else {
		d.Versions = append(d.Versions, target)
	}
	d.IsRevert = len(d.Versions) > 2 && d.Versions[0].Revision.Digest == digest
	if record.State == rollout.Removed {
		d.Writes.Rollout = restoredRecord(record)
	}
	return d
}

// wantsRollback reports whether the rollout of the present folder failed, and its kind.yaml wants the
// operator to roll it back.
func (in Inputs) wantsRollback() bool {
	record := in.Record.Rollout
	isApproved := record.Stop != "" && rollout.ParseApproval(in.Record.Approved).Stop == record.Stop // which the rollout takes in next
	return in.Role == Leader && !in.Paused && !in.ReadOnly && in.Record.Rollback == (rollout.Rollback{}) &&
		record.State == rollout.Stopped && record.Reason.IsFailure() && !isApproved &&
		in.Folder.Kind != nil && record.Target().Digest == in.Folder.Digest && in.Folder.Kind.Settings.Rollout.OnFailure == kind.OnFailureRollback
}

// checkRollback returns why the operator does not roll back by itself, or nil.
func (in Inputs) checkRollback() error {
	switch base := in.lookUpVersion(in.Record.Rollout.Base()); {
	case in.Record.Rollout.Failed.Digest == in.Folder.Digest:
		return errors.New("not rolled back again: that is done once for a folder")
	case !in.StoresRevisions:
		return errors.New("not rolled back: the operator has no namespace to keep revisions in")
	case base.Err != nil:
		return fmt.Errorf("not rolled back: %w", base.Err)
	}
	return nil
}

// newRecord returns the record of a revision that serves every resource without a rollout, or
// nil if that is the present one.
func newRecord(present rollout.Record, r rollout.Revision) *rollout.Record {
	if present.State == rollout.Complete && slices.Equal(present.Revisions, []rollout.Revision{r}) {
		return nil
	}
	return &rollout.Record{State: rollout.Complete, Revisions: []rollout.Revision{r}}
}

// restoredRecord returns the record of a kind whose folder is there again: what was being rolled
// out continues.
func restoredRecord(removed rollout.Record) *rollout.Record {
	if removed.State = rollout.Complete; removed.IsUnfinished() {
		removed.State = rollout.Running
	}
	return &removed
}

// decideFollower determines which revision a replica serves its share with: the one that
// was rolled out to every resource, regardless of the replica's own folder.
func (in Inputs) decideFollower() Desired {
	record := in.Record.Rollout
	switch {
	case record.State == rollout.Removed:
		return Desired{Mode: DeleteOnly, Reason: FolderRemoved}
	case record.State != rollout.Complete:
		return Desired{Mode: Undecided, Reason: LeaderRollsOut}
	}
	v := in.lookUpVersion(record.Target())
	if v.Err != nil {
		return Desired{Mode: Stopped, Reason: RevisionMissing,
			Err: fmt.Errorf("the folder that serves all resources is not here: %w", v.Err)}
	}
	return Desired{Mode: Serve, Versions: []Version{v}}
}

// lookUpVersion looks up a revision, which may be the folder itself.
func (in Inputs) lookUpVersion(r rollout.Revision) Version {
	v := Version{Revision: r}
	switch {
	case r.Digest == "" || r.Digest == rollout.Unknown:
		v.Err = errors.New("it is not on record which folder served it")
	case r.Digest == in.Folder.Digest:
		v.Kind = in.Folder.Kind
	default:
		v.Kind, v.Err = in.Version(r.Digest)
	}
	return v
}

// LatestKind returns the compiled folder of the latest version that has one, or nil.
func (d Desired) LatestKind() *kind.Kind {
	for _, v := range slices.Backward(d.Versions) {
		if v.Kind != nil {
			return v.Kind
		}
	}
	return nil
}

// unrecordedKinds returns the kinds that the versions make or patch and that have not been
// recorded.
func (d Desired) unrecordedKinds(recorded []RecordedKind) (missing []RecordedKind) {
	for _, v := range d.Versions {
		for _, k := range kindsOf(v.Kind) {
			if !slices.Contains(recorded, k) && !slices.Contains(missing, k) {
				missing = append(missing, k)
			}
		}
	}
	return missing
}
