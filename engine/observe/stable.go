package observe

import (
	"encoding/base64"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// A SecretKey is a key of the Secret that a file makes.
type SecretKey struct{ File, Key string }

// Texts are the texts for Secrets that the cache does not show.
type Texts struct {
	// Kept are those that were generated in an earlier reconciliation and did not get
	// into a Secret yet.
	Kept map[SecretKey]string
	// Drawn are those that this reconciliation found at the server or generated;
	// Undrawable says why one is neither; Fresh are the files whose Secret has
	// texts that are in none yet.
	Drawn      map[SecretKey]string
	Undrawable map[SecretKey]string
	Fresh      map[string]bool
}

// NewTexts returns the texts that were kept by an earlier reconciliation.
func NewTexts(kept map[SecretKey]string) *Texts {
	return &Texts{Kept: kept, Drawn: map[SecretKey]string{}, Undrawable: map[SecretKey]string{}, Fresh: map[string]bool{}}
}

// Stable returns a text that is drawn once: what the live Secret says, else
// what was found or drawn in this reconciliation. Else it stands in for a text that is
// still to be drawn, for a render that only tells which Secret it is for.
func (w world) Stable(file, key string, length int) (string, error) {
	all, err := w.Children(file)
	if err != nil {
		return "", err
	}
	at := SecretKey{file, key}
	for _, child := range all {
		if text, found := TextIn(child.(map[string]any), key); found {
			return text, nil
		}
	}
	if why := w.texts.Undrawable[at]; why != "" {
		return "", &template.Wait{Message: why}
	}
	if text, found := w.texts.Drawn[at]; found {
		return text, nil
	}
	w.Undrawn[at] = length
	return strings.Repeat("x", length), nil
}

// ForgetStored forgets the texts that got into their Secrets: if such a Secret is
// deleted, its text is generated anew. Templates need not ask for it meanwhile, as where
// they look the Secret up themselves.
func ForgetStored(w *Snapshot) {
	for at := range w.texts.Kept {
		all, err := world{w}.Children(at.File)
		if err == nil && slices.ContainsFunc(all, func(child any) bool {
			_, found := TextIn(child.(map[string]any), at.Key)
			return found
		}) {
			delete(w.texts.Kept, at)
		}
	}
}

// TextIn returns a key of a Secret, decoded.
func TextIn(secret map[string]any, key string) (string, bool) {
	encoded, found, err := unstructured.NestedString(secret, "data", key)
	if !found || err != nil || secret["kind"] != "Secret" {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	return string(text), err == nil
}
