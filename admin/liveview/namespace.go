package liveview

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// In lists the objects of a kind in a namespace, whole.
func (v *View) In(r live.Resource, namespace string) ([]live.Object, error) {
	objects, err := bodyLister(v.survey.objects, r, namespace).listAll(v.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, classifyError(fmt.Sprintf("listing %s in namespace %s", r.GVR.GroupResource(), namespace), err)
	}
	all := make([]live.Object, len(objects))
	for i, o := range objects {
		all[i] = objectOf(r, o)
	}
	return all, nil
}
