// Package artefact puts kinds into an image of a registry, and takes them out of
// it again: for image volumes, for Flux, and for other roots. It makes and checks
// signatures as cosign does with a key.
//
// The image is an index with one manifest for each architecture of a node: since
// containerd 2.2, a layer is unpacked only if the configuration names the
// architecture of the node. All manifests have the same single layer, which is a
// root.
//
// Without it, users lose kinds from a registry, for image volumes and Flux, with
// signatures that can be verified.
package artefact
