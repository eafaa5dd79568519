package schema

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
)

// Prune drops from obj, in place, what the schema does not declare, unknown
// fields of metadata included, and returns the dropped paths, sorted. Malformed
// metadata is left alone: Validate reports it.
func (v *Version) Prune(obj map[string]any) []string {
	if obj == nil {
		return nil
	}
	dropped := pruneMetadata(obj, "")
	if v.Structural != nil {
		dropped = append(dropped, pruneFields(obj, v.Structural)...)
	}
	return sortedSet(dropped)
}

// PruneStatus returns a copy of a resource's status without the fields that the
// schema does not declare, and their paths from the root of the resource,
// sorted. Where the schema declares no status, all of it goes; where the whole
// resource is free-form, all of it stays, as the API server keeps it.
func (v *Version) PruneStatus(status map[string]any) (map[string]any, []string) {
	if len(status) == 0 {
		return map[string]any{}, nil
	}
	obj := map[string]any{"status": cloneValue(status)}
	var dropped []string
	if v.Structural != nil {
		dropped = pruneFields(obj, v.Structural)
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, v.Structural)
	}
	kept, _ := obj["status"].(map[string]any)
	if kept == nil {
		kept = map[string]any{}
	}
	return kept, sortedSet(dropped)
}

// pruneFields drops what s does not declare below the root of a resource, and the unknown metadata
// of resources within it.
func pruneFields(obj map[string]any, s *schema.Structural) []string {
	dropped := pruning.PruneWithOptions(obj, s, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	return append(dropped, pruneEmbedded(obj, s, "")...)
}

// pruneEmbedded drops the unknown metadata fields of the resources that s
// embeds below path, x being the value there.
func pruneEmbedded(x any, s *schema.Structural, path string) []string {
	if s == nil {
		return nil
	}
	var dropped []string
	switch x := x.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			dropped = pruneMetadata(x, path)
		}
		for name, value := range x {
			below := strings.TrimPrefix(path+"."+name, ".")
			if property, found := s.Properties[name]; found {
				dropped = append(dropped, pruneEmbedded(value, &property, below)...)
			} else if s.AdditionalProperties != nil {
				dropped = append(dropped, pruneEmbedded(value, s.AdditionalProperties.Structural, below)...)
			}
		}
	case []any:
		for i, value := range x {
			dropped = append(dropped, pruneEmbedded(value, s.Items, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return dropped
}

// pruneMetadata drops the fields of metadata that ObjectMeta does not have, from
// the resource at path.
func pruneMetadata(obj map[string]any, path string) []string {
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(obj, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil || !found || len(unknown) == 0 {
		return nil
	}
	if err := objectmeta.SetObjectMeta(obj, meta); err != nil {
		return nil
	}
	if fields, ok := obj["metadata"].(map[string]any); ok && meta.CreationTimestamp.IsZero() {
		delete(fields, "creationTimestamp")
	}
	for i := range unknown {
		unknown[i] = strings.TrimPrefix(path+"."+unknown[i], ".")
	}
	return unknown
}

// sortedSet sorts paths and drops repetitions.
func sortedSet(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// cloneValue copies a JSON value deeply. Unlike runtime.DeepCopyJSON, it lets values pass that are
// none, such as int.
func cloneValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for k, v := range value {
			out[k] = cloneValue(v)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = cloneValue(v)
		}
		return out
	}
	return value
}
