package artefact

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// What cosign calls its signatures: the type of a layer, the annotation of it, and
// what a payload says that it is.
const (
	payloadType       = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureKey      = "dev.cosignproject.cosign/signature"
	signatureOfImages = "cosign container image signature"
)

// A payload is what is signed, in the format of "simple signing".
type payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"`
}

// payloadOf is the payload for an image of a repository, to the byte as cosign
// writes it.
func payloadOf(repository string, digest v1.Hash) ([]byte, error) {
	var p payload
	p.Critical.Identity.Reference = repository
	p.Critical.Image.Digest = digest.String()
	p.Critical.Type = signatureOfImages
	return json.Marshal(p)
}

// signatureTag is the tag of the signatures of an image.
func signatureTag(digest v1.Hash) string { return digest.Algorithm + "-" + digest.Hex + ".sig" }

// signPayload signs a payload.
func signPayload(key *ecdsa.PrivateKey, text []byte) (string, error) {
	sum := sha256.Sum256(text)
	signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	return base64.StdEncoding.EncodeToString(signature), err
}

// errOtherKey: a signature is not of this key and payload.
var errOtherKey = errors.New("the signature was not made with this key, or was changed")

// checkSignature returns an error if something is wrong with a signature of an image.
func checkSignature(key *ecdsa.PublicKey, text []byte, signature string, digest v1.Hash) error {
	raw, err := base64.StdEncoding.DecodeString(signature)
	sum := sha256.Sum256(text)
	if err != nil || !ecdsa.VerifyASN1(key, sum[:], raw) {
		return errOtherKey
	}
	var p payload
	if err := json.Unmarshal(text, &p); err != nil {
		return fmt.Errorf("reading what was signed: %w", err)
	}
	if p.Critical.Type != signatureOfImages {
		return fmt.Errorf("the signature is one of %q, and not of an image", p.Critical.Type)
	}
	if p.Critical.Image.Digest != digest.String() {
		return fmt.Errorf("the signature is one of another image, %s", p.Critical.Image.Digest)
	}
	return nil
}

// ReadPrivateKey reads a key to sign with from a PEM file.
func ReadPrivateKey(file string) (*ecdsa.PrivateKey, error) {
	block, err := readPEM(file)
	if err != nil {
		return nil, err
	}
	if strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
		return nil, fmt.Errorf("%s: the key is encrypted: push without --sign and run cosign sign, or give a key that is not encrypted", file)
	}
	var key any
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	default:
		err = fmt.Errorf("this is the block %s, and not a private key", block.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: reading the key: %w", file, err)
	}
	if ec, ok := key.(*ecdsa.PrivateKey); ok && ec.Curve == elliptic.P256() {
		return ec, nil
	}
	return nil, fmt.Errorf("%s: only ECDSA keys with the curve P-256 are supported", file)
}

// ReadPublicKey reads a key to verify with from a PEM file.
func ReadPublicKey(file string) (*ecdsa.PublicKey, error) {
	block, err := readPEM(file)
	if err != nil {
		return nil, err
	}
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("%s: this is the block %s, and not a PUBLIC KEY", file, block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: reading the key: %w", file, err)
	}
	if ec, ok := key.(*ecdsa.PublicKey); ok && ec.Curve == elliptic.P256() {
		return ec, nil
	}
	return nil, fmt.Errorf("%s: only ECDSA keys with the curve P-256 are supported", file)
}

// readPEM reads the key of a PEM file. openssl writes the parameters before it.
func readPEM(file string) (*pem.Block, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return nil, fmt.Errorf("%s: there is no key in PEM", file)
		}
		if block.Type != "EC PARAMETERS" {
			return block, nil
		}
	}
}
