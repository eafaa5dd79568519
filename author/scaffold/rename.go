package scaffold

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

const (
	nameAction      = "{{ .metadata.name }}"
	namespaceAction = "{{ .metadata.namespace }}"
)

// findStem returns what the names of most objects begin with, up to a hyphen or their end. That is
// the name of the resource that makes them. It is "" if no two of several objects agree.
func findStem(all []*manifest) string {
	counts, names := map[string]int{}, 0
	instance := map[string]bool{}
	for _, m := range all {
		if m.patch {
			continue
		}
		names++
		instance[textAt(m.node, "metadata", "labels", instanceLabel)] = true
		for i, c := range m.name + "-" {
			if c == '-' && i > 0 {
				counts[m.name[:i]]++
			}
		}
	}
	for said := range instance {
		if len(instance) == 1 && counts[said] == names && names > 0 {
			return said
		}
	}
	best := ""
	for _, prefix := range slices.Sorted(maps.Keys(counts)) {
		if cmp.Or(counts[prefix]-counts[best], len(prefix)-len(best)) > 0 {
			best = prefix
		}
	}
	if 2*counts[best] <= names {
		return ""
	}
	return best
}

// cutStem returns what a name has beyond the stem. ok is false for names without the stem.
func cutStem(name, stem string) (rest string, ok bool) {
	if stem == "" {
		return "", false
	}
	if name == stem {
		return "", true
	}
	return strings.CutPrefix(name, stem+"-")
}

// nameOf is the action that gives an object's name.
func nameOf(suffix string) string {
	if suffix == "" {
		return nameAction
	}
	return `{{ childName .metadata.name "` + suffix + `" }}`
}

// refersBy says which kind a map or a text of this key names an object of; ""
// means that a kind beside the name says so.
var refersBy = map[string]string{
	"configMapKeyRef": "ConfigMap", "configMapRef": "ConfigMap", "configMap": "ConfigMap", "configMapName": "ConfigMap",
	"secretKeyRef": "Secret", "secretRef": "Secret", "secret": "Secret", "secretName": "Secret", "imagePullSecrets": "Secret",
	"secrets": "Secret",
	"service": "Service", "serviceName": "Service", "claimName": "PersistentVolumeClaim",
	"serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount",
	"storageClassName": "StorageClass", "priorityClassName": "PriorityClass", "ingressClassName": "IngressClass",
	"runtimeClassName": "RuntimeClass",
	"volumeName":       "PersistentVolume", "claimRef": "PersistentVolumeClaim",
	"scaleTargetRef": "", "targetRef": "", "roleRef": "", "subjects": "", "to": "", "alternateBackends": "", "issuerRef": "",
	"backendRefs": "Service", "parentRefs": "",
	"resource": "",
}

// referredKind returns the kind of object that a text at a path names, or "" if it names none.
func referredKind(path []string, parent *node) string {
	last := path[len(path)-1]
	if last == "name" && len(path) > 1 {
		kind, is := refersBy[path[len(path)-2]]
		if is && (kind == "" || textAt(parent, "kind") != "") {
			kind = textAt(parent, "kind")
		}
		return kind
	}
	switch last {
	case "configMapName", "secretName", "serviceName", "claimName", "serviceAccountName", "serviceAccount",
		"storageClassName", "priorityClassName", "ingressClassName", "runtimeClassName", "volumeName":
		return refersBy[last]
	}
	return ""
}

// isLabels reports whether a path leads to a label, or to a value that selects by a label.
func isLabels(path []string) bool {
	i := len(path) - 2
	if i < 0 || slices.Contains(path, "namespaceSelector") {
		return false
	}
	switch path[i] {
	case "matchLabels":
		return true
	case "labels":
		return i > 0 && path[i-1] == "metadata"
	case "selector": // of a Service or a ReplicationController
		return i == 1 && path[0] == "spec"
	}
	return false
}

// withParents calls f for each text below a node, with the map that it stands
// in.
func withParents(n *node, f func(path []string, parent, n *node)) {
	walkNodes(n, nil, func(path []string, parent *node) {
		eachEntry(parent, func(key string, v *node) {
			if v.Kind == yamlv3.ScalarNode {
				f(append(slices.Clip(path), key), parent, v)
			}
			for _, item := range listItems(parent, key) {
				if item.Kind == yamlv3.ScalarNode {
					f(append(slices.Clip(path), key), parent, item)
				}
			}
		})
	})
}

// hosts are where a name in a text is the name of a host; NAME stands for it,
// what is before and behind it are the two groups.
var hosts = []string{
	`(^|//|[@,\s=])NAME(:[0-9])`,                    // web:80
	`(//|@)NAME([/:?]|$)`,                           // http://web/
	`(^|//|[.@,\s=])NAME(\.[a-z0-9-]+\.svc)`,        // web.shop.svc
	`(^|//|[@,\s=])NAME(-[0-9]+\.[a-z0-9.-]+\.svc)`, // db-0.db.shop.svc
}

// hostKeys are what a variable is called whose value is the name of a host.
var hostKeys = regexp.MustCompile(`(?i)(host|addr|url|uri|server|endpoint|upstream|peer|broker|dns|svc|service)`)
