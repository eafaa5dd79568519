package diff

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// noted are the fields of metadata that the server writes on every object.
var noted = []string{"managedFields", "creationTimestamp", "generation", "resourceVersion", "uid", "selfLink", "deletionGracePeriodSeconds"}

// Between returns a unified diff of two states of an object as YAML, or "" if they are
// equal. What the server writes and what the engine adds is left out, and values of
// Secrets are masked.
func Between(before, after map[string]any) (string, error) {
	before, after = copyWithoutNotes(before, false), copyWithoutNotes(after, false)
	dropEngineMarks(before)
	dropEngineMarks(after)
	return diffStates(before, after, false)
}

// diffStates returns a unified diff of two states of an object as YAML, or "" if they are
// equal. A state that is nil stands for no object. The status counts only if status is true.
func diffStates(before, after map[string]any, status bool) (string, error) {
	before, after = copyWithoutNotes(before, status), copyWithoutNotes(after, status)
	if before == nil || after == nil {
		dropEngineMarks(before)
		dropEngineMarks(after)
	}
	maskSecrets(before, after)
	old, err := formatYAML(before)
	if err != nil {
		return "", err
	}
	now, err := formatYAML(after)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfterN(string(diff.Diff("live", old, "planned", now)), "\n", 2)
	if len(lines) < 2 {
		return "", nil
	}
	return lines[1], nil // the first line repeats the names
}

// formatYAML returns an object as YAML, or nothing for nil.
func formatYAML(o map[string]any) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	return funcs.YAML(o)
}

// copyWithoutNotes copies an object without what the server and tools write on it.
func copyWithoutNotes(o map[string]any, status bool) map[string]any {
	if o == nil {
		return nil
	}
	out := runtime.DeepCopyJSON(o)
	if !status {
		delete(out, "status")
	}
	meta, _ := out["metadata"].(map[string]any)
	for _, field := range noted {
		delete(meta, field)
	}
	dropKeys(meta, "annotations", corev1.LastAppliedConfigAnnotation, api.AnnotationDesired, api.AnnotationWrittenBy)
	return out
}

// dropKeys drops keys of a map of metadata, and the map if none are left.
func dropKeys(meta map[string]any, field string, keys ...string) {
	all, _ := meta[field].(map[string]any)
	for _, key := range keys {
		delete(all, key)
	}
	if all != nil && len(all) == 0 {
		delete(meta, field)
	}
}

// dropEngineMarks drops what the engine adds to every child. It is for objects that are
// shown as a whole.
func dropEngineMarks(o map[string]any) {
	meta, _ := o["metadata"].(map[string]any)
	dropKeys(meta, "annotations", api.AnnotationOwner, api.AnnotationFile, api.AnnotationDrawn)
	dropKeys(meta, "labels", api.LabelOwnerUID)
	delete(meta, "ownerReferences")
}

// Masks for values of a Secret. They show that a value differs, but not how.
const (
	hidden       = "(hidden)"
	hiddenBefore = "(hidden, as it is)"
	hiddenAfter  = "(hidden, another one)"
)

// maskSecrets replaces the values of two states of a Secret by masks.
func maskSecrets(before, after map[string]any) {
	secrets := append(listSecretValues(before), listSecretValues(after)...)
	if !isSecret(before) && !isSecret(after) {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		old, _ := before[field].(map[string]any)
		now, _ := after[field].(map[string]any)
		keys := slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(now)))))
		for _, key := range keys {
			a, was := old[key]
			b, is := now[key]
			switch {
			case was && is && a != b:
				old[key], now[key] = hiddenBefore, hiddenAfter
			case was && is:
				old[key], now[key] = hidden, hidden
			case was:
				old[key] = hidden
			case is:
				now[key] = hidden
			}
		}
	}
	for _, o := range []map[string]any{before, after} {
		hideSecretsIn(o, secrets)
	}
}

func isSecret(o map[string]any) bool { return o["kind"] == "Secret" && o["apiVersion"] == "v1" }

// listSecretValues returns the values of a Secret: as they are stored, decoded, and quoted
// in JSON.
func listSecretValues(o map[string]any) []string {
	if !isSecret(o) {
		return nil
	}
	var all []string
	for _, field := range []string{"data", "stringData"} {
		m, _ := o[field].(map[string]any)
		for _, v := range m {
			stored, _ := v.(string)
			all = append(all, listQuotedForms(stored)...)
			if meant, err := base64.StdEncoding.DecodeString(stored); err == nil {
				all = append(all, listQuotedForms(string(meant))...)
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// listQuotedForms returns a text as it is, and as it stands in JSON, where <, > and & may be
// escaped or not.
func listQuotedForms(text string) []string {
	all := []string{text}
	for _, escape := range []bool{true, false} {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(escape)
		if encoder.Encode(text) == nil {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n"))
		}
	}
	return all
}

// packed is how gzip data begins in base64. Some tools keep whole objects in this form.
const packed = "H4sI"

// hideSecretsIn hides the labels and annotations of an object that hold a secret, or may
// hold one in a packed form.
func hideSecretsIn(o map[string]any, secrets []string) {
	meta, _ := o["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		m, _ := meta[field].(map[string]any)
		for key, v := range m {
			text, _ := v.(string)
			holds := strings.HasPrefix(text, packed) || slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(text, s) })
			if holds && !api.Reserved(key) {
				m[key] = hidden
			}
		}
	}
}

// likeOf returns an object that was tried under another name, with the name and uid of the
// object that it is to replace. They may stand anywhere, as in the labels of a Job's Pods.
func likeOf(tried, live map[string]any) map[string]any {
	a, b := &unstructured.Unstructured{Object: tried}, &unstructured.Unstructured{Object: live}
	if tried == nil || live == nil || a.GetUID() == "" {
		return tried
	}
	same := strings.NewReplacer(a.GetName(), b.GetName(), string(a.GetUID()), string(b.GetUID()))
	renamed, _ := replaceTexts(tried, same).(map[string]any)
	return renamed
}

// replaceTexts returns a copy of a value with replaced texts.
func replaceTexts(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaceTexts(v[i], by)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = replaceTexts(v[key], by)
		}
		return out
	}
	return v
}

// bodyOf returns the whole object, or nil.
func bodyOf(o *unstructured.Unstructured) map[string]any {
	if o == nil {
		return nil
	}
	return o.Object
}
