package controller

import (
	"context"
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// TestRollbackHolds: a rollback from a folder holds for this very folder, although no
// operator has ever served it, and while it does not load; a replica that still has the
// folder of the revision serves it, and leaves the rollback as it is. In none of these
// cases is anything written: this operator has nothing to write with.
func TestRollbackHolds(t *testing.T) {
	broken := &observe.Version{Name: "things", Broken: errors.New("no")}
	for name, tt := range map[string]struct {
		made     *observe.Version
		recorded string
		applies  bool
	}{
		"the folder that is left":               {versionOf("bad"), "bad", true},
		"the folder that is left, never served": {versionOf("bad"), "older", true},
		"the folder of the revision":            {versionOf("old"), "bad", false},
		"a folder that does not load":           {broken, "bad", true},
		"it does not load, and is rolled back":  {broken, "old", false},
		"the folder is gone":                    {&observe.Version{Name: "things", Removed: true}, "bad", false},
	} {
		o, mine := &Operator{options: Options{Identity: "home/jacquard"}}, shard.Shard{Identity: "home/jacquard"}
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things", Annotations: map[string]string{
			mine.Key(api.AnnotationRollback): "old bad", mine.Key(api.AnnotationRolledOut): tt.recorded}}}
		h := &history{o, crd, func() ([]*revision.Revision, error) { return nil, errors.New("forbidden") }}
		v, err := h.rolledBack(context.Background(), tt.made, crd, mine)
		if applies := err != nil; applies != tt.applies || !applies && v != tt.made { // the revision cannot be read
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}
