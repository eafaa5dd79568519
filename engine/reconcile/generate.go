package reconcile

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// drawTexts draws the texts that are still to be drawn, unless the Secret that they
// are for is there already: that is asked of the server itself, since a cache
// may be late. What was drawn in an earlier turn is used again, so that nothing
// else changes while it does not get into its Secret. Files that ask for what
// cannot be drawn wait.
func (t renderer) drawTexts(ctx context.Context, view *observe.Snapshot, result *render.Result) {
	for at, length := range view.Undrawn {
		text, err := t.texts.Kept[at], error(nil)
		t.texts.Fresh[at.File] = t.texts.Fresh[at.File] || text != ""
		if text == "" {
			text, err = t.readStored(ctx, at, result)
		}
		if err == nil && text == "" {
			t.texts.Fresh[at.File] = true
			text, err = t.generateText(at, length)
			t.texts.Kept[at] = text
		}
		if err != nil {
			t.texts.Undrawable[at] = err.Error()
			t.retryLater()
			continue
		}
		t.texts.Drawn[at] = text
	}
	clear(view.Undrawn)
}

// readStored returns the text that the Secret of a file has now; "" without one.
func (t renderer) readStored(ctx context.Context, at observe.SecretKey, result *render.Result) (string, error) {
	i := slices.IndexFunc(result.Children, func(c render.Child) bool { return c.File == at.File && c.Object.GetKind() == "Secret" })
	if i < 0 {
		return "", fmt.Errorf("%s.yaml makes no Secret now, whose key %s is wanted", at.File, at.Key)
	}
	c := result.Children[i]
	served, found := t.r.cluster.Served().Resource(c.Object.GroupVersionKind())
	if !found {
		return "", fmt.Errorf("the cluster does not tell of Secrets")
	}
	to, err := t.childWriter()
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
	if ok, _ := plan.TakeOver(t.subject.Owner(), live, made, c.Policy.Adopt); !ok && !plan.Ours(t.subject.Owner(), live) {
		return "", nil // it is refused when it is applied
	}
	text, _ := observe.TextIn(live.Object, at.Key)
	return text, nil
}

// generateText generates a text. A dry run takes note of it, and only stands in for it.
func (t renderer) generateText(at observe.SecretKey, length int) (string, error) {
	if t.isDry() {
		t.generated = append(t.generated, at.File+"/"+at.Key)
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
