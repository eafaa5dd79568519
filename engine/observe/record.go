package observe

import (
	"cmp"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// A finalization is what deleting needs of a folder's settings.
type finalization struct {
	DeleteOrder        []string `json:"deleteOrder,omitempty"`
	ServiceAccountName string   `json:"serviceAccountName,omitempty"`
	// Elsewhere are the namespaces that children may be in besides those of
	// their resources; "*": any.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// FinalizationRecord returns what is put on record of the settings; "" if they say
// nothing about deleting.
func (s *Subject) FinalizationRecord() string {
	settings, elsewhere := s.Settings(), s.OtherNamespaces()
	if len(settings.DeleteOrder) == 0 && settings.ServiceAccountName == "" && len(elsewhere) == 0 {
		return ""
	}
	text, _ := json.Marshal(finalization{settings.DeleteOrder, settings.ServiceAccountName, elsewhere}) // texts
	return string(text)
}

// anywhere stands for namespaces that nobody can name beforehand.
const anywhere = "*"

// finalizationOf reads what is on record of this share's folder or, if there is
// nothing, of one that served all resources; anything else is nothing.
func finalizationOf(crd metav1.Object, of shard.Shard) finalization {
	text := cmp.Or(crd.GetAnnotations()[of.Key(api.AnnotationLeaving)], crd.GetAnnotations()[api.AnnotationLeaving])
	var l finalization
	if json.Unmarshal([]byte(text), &l) != nil {
		return finalization{}
	}
	return l
}

// Recorded reads the record of child kinds: "kind.group", comma-separated.
func Recorded(text string) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, item := range strings.Split(text, ",") {
		if item != "" {
			kinds = append(kinds, schema.ParseGroupKind(item))
		}
	}
	return kinds
}
