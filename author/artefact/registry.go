package artefact

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The bounds of what describes an image, and of the signatures that are read.
const (
	maxManifest   = 1 << 20
	maxPayload    = 64 << 10
	maxSignatures = 50
)

// A Registry is how registries are talked to: with the credentials of docker's or
// podman's configuration.
type Registry struct {
	// Warn is called with what is wrong with the configuration and prevents nothing. It may
	// be nil.
	Warn func(error)
	// PlainHTTP: HTTP without TLS is allowed, not only on the loopback interface.
	PlainHTTP bool
}

// nameOptions returns the options with which names of images are parsed.
func (r Registry) nameOptions() []name.Option {
	if r.PlainHTTP {
		return []name.Option{name.StrictValidation, name.Insecure}
	}
	return []name.Option{name.StrictValidation}
}

// remoteOptions returns the options with which registries are called.
func (r Registry) remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(keychain{r.callWarn}), remote.WithTransport(r)}
}

// callWarn calls Warn, if it is not nil.
func (r Registry) callWarn(err error) {
	if r.Warn != nil {
		r.Warn(err)
	}
}

// RoundTrip refuses plain HTTP that is not allowed: the library falls back to it
// for private addresses, and follows redirects to it.
func (r Registry) RoundTrip(request *http.Request) (*http.Response, error) {
	host := request.URL.Hostname()
	ip := net.ParseIP(host)
	if request.URL.Scheme != "https" && !r.PlainHTTP && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s would be asked by plain HTTP; --plain-http allows it", request.URL.Host)
	}
	return remote.DefaultTransport.RoundTrip(request)
}

// Push puts an image into a registry under one or more tags of one repository, as
// registry/repository:tag and further tags. With a key it is signed before it
// gets the tags. It returns the digest.
func (r Registry) Push(ctx context.Context, image v1.ImageIndex, tags []string, key *ecdsa.PrivateKey) (string, error) {
	first, err := name.NewTag(tags[0], r.nameOptions()...)
	if err != nil {
		return "", fmt.Errorf("give REGISTRY/REPOSITORY:TAG: %w", err)
	}
	targets := []name.Tag{first}
	for _, tag := range tags[1:] {
		target, err := name.NewTag(first.Context().Name()+":"+tag, r.nameOptions()...)
		if err != nil {
			return "", fmt.Errorf("the tag %q: %w", tag, err)
		}
		targets = append(targets, target)
	}
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("digesting an image: %w", err)
	}
	p := peer{first.Context(), r.remoteOptions(ctx)}
	if err := remote.WriteIndex(p.Digest(digest.String()), image, p.options...); err != nil {
		return "", fmt.Errorf("pushing to %s: %w", p, err)
	}
	if key != nil {
		if err := p.addSignature(digest, key); err != nil {
			return "", fmt.Errorf("signing %s@%s: %w", p, digest, err)
		}
	}
	for _, target := range targets {
		if err := remote.Tag(target, image, p.options...); err != nil {
			return "", fmt.Errorf("tagging %s: %w", target, err)
		}
	}
	return digest.String(), nil
}

// ErrUnpinned is the error of a reference that neither a signature nor a digest
// fixes the content of.
var ErrUnpinned = errors.New("nothing says that the content is the one that you expect: give --verify KEY, or a digest (NAME@sha256:…)")

// Pull returns the files of an image and the digest of it. With a key, it needs a
// signature of that key. Without one, the reference must be a digest, unless any
// content is accepted.
func (r Registry) Pull(ctx context.Context, reference string, key *ecdsa.PublicKey, unverified bool) (Files, string, error) {
	ref, err := name.ParseReference(reference, r.nameOptions()...)
	if err != nil {
		return nil, "", fmt.Errorf("give REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST: %w", err)
	}
	if _, pinned := ref.(name.Digest); !pinned && key == nil && !unverified {
		return nil, "", fmt.Errorf("%s: %w", reference, ErrUnpinned)
	}
	p := peer{ref.Context(), r.remoteOptions(ctx)}
	top, digest, err := p.readManifest(ref)
	if err != nil {
		return nil, "", err
	}
	if key != nil {
		if err := p.verifySignature(digest, key); err != nil {
			return nil, "", fmt.Errorf("%s@%s: %w", p, digest, err)
		}
	}
	files, err := p.readFiles(top)
	if err != nil {
		return nil, "", fmt.Errorf("%s@%s: %w", p, digest, err)
	}
	return files, digest.String(), nil
}

// A peer is a repository of a registry.
type peer struct {
	name.Repository
	options []remote.Option
}

// A manifest is an index or the description of an image, by which of its fields
// are there: the registry has no say in it, since the type that it names is not
// signed.
type manifest struct {
	Manifests []v1.Descriptor `json:"manifests"`
	Layers    []v1.Descriptor `json:"layers"`
}

// readManifest reads a manifest, and digests what it has read.
func (p peer) readManifest(ref name.Reference) (m manifest, digest v1.Hash, err error) {
	got, err := remote.Get(ref, p.options...)
	if err != nil {
		return m, digest, fmt.Errorf("reading %s: %w", ref, err)
	}
	if digest, _, err = v1.SHA256(bytes.NewReader(got.Manifest)); err != nil {
		return m, digest, fmt.Errorf("reading %s: %w", ref, err)
	}
	if pinned, is := ref.(name.Digest); is && pinned.DigestStr() != digest.String() {
		return m, digest, fmt.Errorf("%s: the registry has something else under this digest: %s", ref, digest)
	}
	if len(got.Manifest) > maxManifest {
		return m, digest, fmt.Errorf("%s: its manifest is larger than %d bytes", ref, maxManifest)
	}
	if err := json.Unmarshal(got.Manifest, &m); err != nil {
		return m, digest, fmt.Errorf("%s: reading its manifest: %w", ref, err)
	}
	return m, digest, nil
}

// readBlob reads what a manifest describes. It fails if the content is not what the manifest
// describes.
func (p peer) readBlob(d v1.Descriptor, most int64) ([]byte, error) {
	if d.Size > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", d.Digest, most)
	}
	remotely, err := remote.Layer(p.Digest(d.Digest.String()), p.options...)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.Digest, err)
	}
	from, err := remotely.Compressed()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.Digest, err)
	}
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", d.Digest, err)
	}
	if got, _, err := v1.SHA256(bytes.NewReader(data)); err != nil || got != d.Digest {
		return nil, fmt.Errorf("%s: the registry has something else under this digest", d.Digest)
	}
	return data, nil
}

// readFiles reads the files of an image. Of an index it reads those of the first image.
func (p peer) readFiles(m manifest) (Files, error) {
	if i := slices.IndexFunc(m.Manifests, func(d v1.Descriptor) bool { return d.MediaType.IsImage() }); i >= 0 {
		below, _, err := p.readManifest(p.Digest(m.Manifests[i].Digest.String()))
		if err != nil {
			return nil, err
		}
		m = below
	}
	if len(m.Layers) != 1 || m.Layers[0].MediaType != types.OCILayer && m.Layers[0].MediaType != types.DockerLayer {
		return nil, errors.New("this is not an image that jacquard push makes: it must have one layer, a compressed archive")
	}
	data, err := p.readBlob(m.Layers[0], MaxSize)
	if err != nil {
		return nil, err
	}
	return unpackLayer(data)
}

// isNotFound reports whether an error means that the registry has no such thing.
func isNotFound(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// verifySignature fails unless an image has a signature of a key.
func (p peer) verifySignature(digest v1.Hash, key *ecdsa.PublicKey) error {
	m, _, err := p.readManifest(p.Tag(signatureTag(digest)))
	if isNotFound(err) {
		return fmt.Errorf("it has no signature (tag %s): sign it by jacquard push --sign or by cosign sign --new-bundle-format=false --key",
			signatureTag(digest))
	}
	if err != nil {
		return fmt.Errorf("reading its signatures: %w", err)
	}
	errs := []error{fmt.Errorf("none of its signatures is valid: compare the key with that of the author (tag %s)", signatureTag(digest))}
	for i, d := range m.Layers {
		if d.MediaType != payloadType || i >= maxSignatures {
			continue
		}
		text, err := p.readBlob(d, maxPayload)
		if err == nil {
			err = checkSignature(key, text, d.Annotations[signatureKey], digest)
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addSignature adds a signature to those that an image has, unless there is one of this key.
func (p peer) addSignature(digest v1.Hash, key *ecdsa.PrivateKey) error {
	if p.verifySignature(digest, &key.PublicKey) == nil {
		return nil
	}
	text, err := payloadOf(p.Name(), digest)
	if err != nil {
		return err
	}
	signature, err := signPayload(key, text)
	if err != nil {
		return err
	}
	tag := p.Tag(signatureTag(digest))
	signatures, err := remote.Image(tag, p.options...)
	if isNotFound(err) {
		signatures, err = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), nil
	}
	if err != nil {
		return err
	}
	signatures, err = mutate.Append(signatures, mutate.Addendum{Layer: static.NewLayer(text, payloadType),
		Annotations: map[string]string{signatureKey: signature}})
	if err != nil {
		return err
	}
	return remote.Write(tag, signatures, p.options...)
}
