package operator

import (
	"errors"
	"testing"
)

// TestBest: which of several sources a kind is served from.
func TestBest(t *testing.T) {
	broken := errors.New("broken")
	sound, other := origin{shown: "sound"}, origin{shown: "other"}
	bad, part := origin{shown: "bad", err: broken}, origin{shown: "part", err: broken, partial: true}
	for _, tt := range []struct {
		name    string
		sources []origin
		chosen  string
		loaded  bool
		want    string
	}{
		{"the first", []origin{sound, other}, "", false, "sound"},
		{"the one that runs", []origin{sound, other}, "other", true, "other"},
		{"the one that was chosen is gone", []origin{sound, other}, "gone", true, "sound"},
		{"a sound one at the start", []origin{bad, part, sound}, "", false, "sound"},
		{"a sound one while nothing runs", []origin{bad, sound}, "bad", false, "sound"},
		{"the one that ran before it broke", []origin{sound, bad}, "bad", true, "bad"},
		{"the one whose parts are being written", []origin{sound, part}, "part", true, "part"},
		{"a whole one of none that is sound", []origin{part, bad}, "", false, "bad"},
		{"parts", []origin{part}, "", false, "part"},
	} {
		if got := best(tt.sources, tt.chosen, tt.loaded); got.shown != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.shown, tt.want)
		}
	}
}
