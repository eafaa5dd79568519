package reconcile

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/apply"
)

// TestPause: what a busy server could not take is sent later each time, not before
// the server wants it; what it refused for its content pauses nothing, and what
// was sent well ends the pause.
func TestPause(t *testing.T) {
	t.Parallel()
	var p pause
	now := time.Now()
	busy := &apply.Refusal{Cause: apply.TryAgain, RetryAfter: 5 * time.Second, Err: apierrors.NewTooManyRequests("busy", 5)}
	p.sent(busy, now)
	first := p.until.Sub(now)
	if p.why(now) == nil || first < 5*time.Second || p.why(p.until) != nil {
		t.Errorf("the first pause is %v", first)
	}
	now = p.until
	p.sent(busy, now)
	if second := p.until.Sub(now); second <= first {
		t.Errorf("the pauses are %v and %v", first, second)
	}
	p.sent(nil, now)
	if p != (pause{}) {
		t.Errorf("it goes on: %v", p)
	}
	p.sent(&apply.Refusal{Cause: apply.Invalid, Err: apierrors.NewInvalid(schema.GroupKind{}, "a", nil)}, now)
	if p.why(now) != nil {
		t.Error("refused content pauses what comes next")
	}
}
