package chart

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// knownEither are values that are a number or a text wherever they occur.
var knownEither = map[string]bool{
	"minAvailable": true, "maxUnavailable": true, "maxSurge": true, "targetPort": true, "cpu": true, "memory": true,
	"storage": true, "size": true, "ephemeral-storage": true, "sizeLimit": true,
}

// The shapes of what many charts have in their values.
var (
	textMap  = func() shape { return shape{"type": "object", "additionalProperties": shape{"type": "string"}} }
	quantity = func() shape {
		return shape{"type": "object", "additionalProperties": shape{eitherKey: true}}
	}
	freeMap   = func() shape { return shape{"type": "object", openKey: true} }
	text      = shape{"type": "string"}
	objects   = func() shape { return shape{"type": "array", "items": freeMap()} }
	resources = func() shape {
		return shape{"type": "object", openKey: true, "properties": shape{"limits": quantity(), "requests": quantity()}}
	}
	tolerations = func() shape {
		return shape{"type": "array", "items": shape{"type": "object", "properties": shape{
			"key": text, "operator": text, "value": text, "effect": text, "tolerationSeconds": shape{"type": "integer", "format": "int64"},
		}}}
	}
	names = func() shape {
		return shape{"type": "array", "items": shape{"type": "object", openKey: true, "properties": shape{"name": text}}}
	}
	variables = func() shape {
		return shape{"type": "array", "items": shape{"type": "object", openKey: true, "required": []any{"name"},
			"properties": shape{"name": text, "value": text, "valueFrom": freeMap()}}}
	}
)

// knownShapes are by the name of the value.
var knownShapes = map[string]func() shape{
	"resources": resources, "nodeSelector": textMap, "tolerations": tolerations, "imagePullSecrets": names,
	"env": variables, "extraEnv": variables, "extraEnvVars": variables, "envVars": variables,
	"affinity": freeMap, "securityContext": freeMap, "podSecurityContext": freeMap, "containerSecurityContext": freeMap,
	"envFrom": objects, "volumes": objects, "volumeMounts": objects, "extraVolumes": objects, "extraVolumeMounts": objects,
	"initContainers": objects, "sidecars": objects, "topologySpreadConstraints": objects, "hostAliases": objects,
}

// knownShape is the shape of a well-known value, if it is one that a node of
// that kind can be; without a default.
func knownShape(name string, kind yaml.Kind) shape {
	build := knownShapes[name]
	lower := strings.ToLower(name)
	if build == nil && slices.ContainsFunc([]string{"annotations", "labels"}, func(end string) bool { return strings.HasSuffix(lower, end) }) {
		build = textMap
	}
	if build == nil {
		return nil
	}
	s := build()
	if list := s["type"] == "array"; list != (kind == yaml.SequenceNode) || kind == yaml.ScalarNode {
		return nil
	}
	return s
}
