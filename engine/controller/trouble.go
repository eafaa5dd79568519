package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
)

// forgetTrouble forgets what was wrong with a folder that is gone. That it is gone is an
// event on the CRD, by the leader.
func (n *kindReporter) forgetTrouble(ctx context.Context, name string, crd *apiextensionsv1.CustomResourceDefinition) {
	n.mu.Lock()
	k := n.stateOf(name)
	isNew := k.taken != "" && !k.named() // its CRD may be what is gone
	k.trouble, k.announced.trouble, k.taken = nil, "", ""
	n.mu.Unlock()
	metrics.Kind(name).NoFolder()
	if !isNew {
		return
	}
	log.FromContext(ctx).Info("folder removed", "kind", name)
	if crd != nil && n.isLeading() {
		n.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, api.ReasonFolderRemoved, "Load",
			"the folder was removed: the children of its resources stay as they are, and the resources can be deleted")
	}
}

// recordTrouble keeps what is wrong with a folder for /readyz, and tells of it once: in
// the log and, by the leader, as an event on the CRD.
func (n *kindReporter) recordTrouble(ctx context.Context, name string, crd *apiextensionsv1.CustomResourceDefinition, trouble error) {
	n.mu.Lock()
	k := n.stateOf(name)
	before := k.trouble
	k.trouble, k.announced.lonely, k.loaded = trouble, false, k.loaded || trouble == nil
	n.mu.Unlock()
	switch {
	case trouble != nil && (before == nil || before.Error() != trouble.Error()):
		log.FromContext(ctx).Error(trouble, "folder does not load; the last good version, if any, runs on", "kind", name)
	case trouble == nil && before != nil:
		log.FromContext(ctx).Info("folder loads again", "kind", name)
	}
	if n.isLeading() {
		n.announceTrouble(name, crd, trouble)
	}
}

// announceTrouble writes an event when what is wrong with a folder changed.
func (n *kindReporter) announceTrouble(name string, crd *apiextensionsv1.CustomResourceDefinition, trouble error) {
	text := ""
	if trouble != nil {
		text = trouble.Error()
	}
	n.mu.Lock()
	k := n.stateOf(name)
	before := k.announced.trouble
	k.announced.trouble = text
	n.mu.Unlock()
	switch {
	case text == before:
	case text == "":
		n.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeNormal, api.ReasonFolderLoads, "Load", "the folder loads again")
	default:
		n.mgr.GetEventRecorder("jacquard").Eventf(crd, nil, corev1.EventTypeWarning, api.ReasonFolderInvalid, "Load", "%s", cut(text))
	}
}
