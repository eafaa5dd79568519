package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A secretKey is a key of the Secret that a file makes.
type secretKey struct{ file, key string }

// texts are the texts for Secrets that the cache does not show.
type texts struct {
	// kept are those that were drawn in an earlier reconciliation and did not get
	// into a Secret yet.
	kept map[secretKey]string
	// drawn are those that this reconciliation found at the server or drew;
	// undrawable says why one is neither; fresh are the files whose Secret has
	// texts that are in none yet.
	drawn      map[secretKey]string
	undrawable map[secretKey]string
	fresh      map[string]bool
}

func newTexts(kept map[secretKey]string) *texts {
	return &texts{kept: kept, drawn: map[secretKey]string{}, undrawable: map[secretKey]string{}, fresh: map[string]bool{}}
}

// Stable returns a text that is drawn once: what the live Secret says, else
// what was found or drawn in this reconciliation. Else it stands in for a text that is
// still to be drawn, for a render that only tells which Secret it is for.
func (w templateWorld) Stable(file, key string, length int) (string, error) {
	all, err := w.Children(file)
	if err != nil {
		return "", err
	}
	at := secretKey{file, key}
	for _, child := range all {
		if text, found := textIn(child.(map[string]any), key); found {
			return text, nil
		}
	}
	if why := w.texts.undrawable[at]; why != "" {
		return "", &template.Wait{Message: why}
	}
	if text, found := w.texts.drawn[at]; found {
		return text, nil
	}
	w.undrawn[at] = length
	return strings.Repeat("x", length), nil
}

// forgetStored forgets the texts that got into their Secrets: if such a Secret is
// deleted, its text is drawn anew. Templates need not ask for it meanwhile, as where
// they look the Secret up themselves.
func (w templateWorld) forgetStored() {
	for at := range w.texts.kept {
		all, err := w.Children(at.file)
		if err == nil && slices.ContainsFunc(all, func(child any) bool {
			_, found := textIn(child.(map[string]any), at.key)
			return found
		}) {
			delete(w.texts.kept, at)
		}
	}
}

// textIn is a decoded key of a Secret.
func textIn(secret map[string]any, key string) (string, bool) {
	encoded, found, err := unstructured.NestedString(secret, "data", key)
	if !found || err != nil || secret["kind"] != "Secret" {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	return string(text), err == nil
}

// drawTexts draws the texts that are still to be drawn, unless the Secret that they
// are for is there already: that is asked of the server itself, since a cache
// may be late. What was drawn in an earlier turn is used again, so that nothing
// else changes while it does not get into its Secret. Files that ask for what
// cannot be drawn wait.
func (t renderer) drawTexts(ctx context.Context, w *snapshot, result *render.Result) {
	for at, length := range w.undrawn {
		text, err := t.texts.kept[at], error(nil)
		t.texts.fresh[at.file] = t.texts.fresh[at.file] || text != ""
		if text == "" {
			text, err = t.readStored(ctx, at, result)
		}
		if err == nil && text == "" {
			t.texts.fresh[at.file] = true
			text, err = t.generateText(at, length)
			t.texts.kept[at] = text
		}
		if err != nil {
			t.texts.undrawable[at] = err.Error()
			t.retryLater()
			continue
		}
		t.texts.drawn[at] = text
	}
	clear(w.undrawn)
}

// readStored returns the text that the Secret of a file has now; "" without one.
func (t renderer) readStored(ctx context.Context, at secretKey, result *render.Result) (string, error) {
	i := slices.IndexFunc(result.Children, func(c render.Child) bool { return c.File == at.file && c.Object.GetKind() == "Secret" })
	if i < 0 {
		return "", fmt.Errorf("%s.yaml makes no Secret now, whose key %s is wanted", at.file, at.key)
	}
	c := result.Children[i]
	served, found := t.r.cluster.Served().Resource(c.Object.GroupVersionKind())
	if !found {
		return "", fmt.Errorf("the cluster does not tell of Secrets")
	}
	to, err := t.subject.childWriter()
	if err != nil {
		return "", err
	}
	live, err := to.Read(ctx, served, c.Object.GetNamespace(), c.Object.GetName())
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading Secret %s: %w", describePlace(c.Object), err)
	}
	_, made := t.memory.applied[live.GetUID()]
	if ok, _ := plan.TakeOver(t.subject.planOwner(), live, made, c.Policy.Adopt); !ok && !plan.Ours(t.subject.planOwner(), live) {
		return "", nil // it is refused when it is applied
	}
	text, _ := textIn(live.Object, at.key)
	return text, nil
}

// generateText generates a text. A dry run takes note of it, and only stands in for it.
func (t renderer) generateText(at secretKey, length int) (string, error) {
	if t.isDry() {
		t.generated = append(t.generated, at.file+"/"+at.key)
		return strings.Repeat("x", length), nil
	}
	return randomText(length)
}

// letters are what a drawn text is made of.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// randomText draws a text, each letter as likely as any other.
func randomText(length int) (string, error) {
	var b strings.Builder
	for range length {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			return "", fmt.Errorf("drawing a text: %w", err)
		}
		b.WriteByte(letters[n.Int64()])
	}
	return b.String(), nil
}
