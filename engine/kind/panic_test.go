package kind

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/panics"
)

// TestPanicOfCompile: a panic is what is wrong with this folder, and no end of
// the process.
func TestPanicOfCompile(t *testing.T) {
	k, err := Compile(&folder.Folder{Name: "things.example.com"}, nil)
	if k != nil || panics.In(err) == nil {
		t.Errorf("got %v, %v", k, err)
	}
}
