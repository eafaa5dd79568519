package controller

import (
	"errors"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// TestBest: which of several sources a kind is served from.
func TestBest(t *testing.T) {
	broken := errors.New("broken")
	sound, other := folder.Source{Shown: "sound"}, folder.Source{Shown: "other"}
	bad, part := folder.Source{Shown: "bad", Err: broken}, folder.Source{Shown: "part", Err: broken, Partial: true}
	for _, tt := range []struct {
		name    string
		sources []folder.Source
		chosen  string
		loaded  bool
		want    string
	}{
		{"the first", []folder.Source{sound, other}, "", false, "sound"},
		{"the one that runs", []folder.Source{sound, other}, "other", true, "other"},
		{"the one that was chosen is gone", []folder.Source{sound, other}, "gone", true, "sound"},
		{"a sound one at the start", []folder.Source{bad, part, sound}, "", false, "sound"},
		{"a sound one while nothing runs", []folder.Source{bad, sound}, "bad", false, "sound"},
		{"the one that ran before it broke", []folder.Source{sound, bad}, "bad", true, "bad"},
		{"the one whose parts are being written", []folder.Source{sound, part}, "part", true, "part"},
		{"a whole one of none that is sound", []folder.Source{part, bad}, "", false, "bad"},
		{"parts", []folder.Source{part}, "", false, "part"},
	} {
		if got := pickSource(tt.sources, tt.chosen, tt.loaded); got.Shown != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.Shown, tt.want)
		}
	}
}
