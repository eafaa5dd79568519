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

// noted are the fields of metadata that the server notes on every object.
var noted = []string{"managedFields", "creationTimestamp", "generation", "resourceVersion", "uid", "selfLink", "deletionGracePeriodSeconds"}

// Between is a unified diff of two states of an object as YAML, without what the
// server notes and what the engine adds; "" says that they say the same. Values of
// Secrets are masked.
func Between(before, after map[string]any) (string, error) {
	before, after = plain(before, false), plain(after, false)
	engineless(before)
	engineless(after)
	return between(before, after, false)
}

// between is a unified diff of two states of an object as YAML; nil stands for
// none, and "" says that they say the same. The status counts only where it is
// what is applied.
func between(before, after map[string]any, status bool) (string, error) {
	before, after = plain(before, status), plain(after, status)
	if before == nil || after == nil {
		engineless(before)
		engineless(after)
	}
	mask(before, after)
	old, err := text(before)
	if err != nil {
		return "", err
	}
	now, err := text(after)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfterN(string(diff.Diff("live", old, "planned", now)), "\n", 2)
	if len(lines) < 2 {
		return "", nil
	}
	return lines[1], nil // the first line repeats the names
}

func text(o map[string]any) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	return funcs.YAML(o)
}

// plain is a copy of an object without what the server and tools note on it.
func plain(o map[string]any, status bool) map[string]any {
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
	drop(meta, "annotations", corev1.LastAppliedConfigAnnotation, api.AnnotationDesired, api.AnnotationWrittenBy)
	return out
}

// drop takes keys off a map of metadata, and the map if none are left.
func drop(meta map[string]any, field string, keys ...string) {
	all, _ := meta[field].(map[string]any)
	for _, key := range keys {
		delete(all, key)
	}
	if all != nil && len(all) == 0 {
		delete(meta, field)
	}
}

// engineless takes off what the engine adds to every child, where the whole
// object is shown.
func engineless(o map[string]any) {
	meta, _ := o["metadata"].(map[string]any)
	drop(meta, "annotations", api.AnnotationOwner, api.AnnotationFile, api.AnnotationDrawn)
	drop(meta, "labels", api.LabelOwnerUID)
	delete(meta, "ownerReferences")
}

// What is shown instead of a value of a Secret: that it differs, but not how.
const (
	hidden       = "(hidden)"
	hiddenBefore = "(hidden, as it is)"
	hiddenAfter  = "(hidden, another one)"
)

// mask puts marks in place of the values of two states of a Secret.
func mask(before, after map[string]any) {
	secrets := append(values(before), values(after)...)
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
		without(o, secrets)
	}
}

func isSecret(o map[string]any) bool { return o["kind"] == "Secret" && o["apiVersion"] == "v1" }

// values are the values of a Secret, as they are stored, as they are meant, and
// as they stand in JSON.
func values(o map[string]any) []string {
	if !isSecret(o) {
		return nil
	}
	var all []string
	for _, field := range []string{"data", "stringData"} {
		m, _ := o[field].(map[string]any)
		for _, v := range m {
			stored, _ := v.(string)
			all = append(all, quoted(stored)...)
			if meant, err := base64.StdEncoding.DecodeString(stored); err == nil {
				all = append(all, quoted(string(meant))...)
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// quoted is a text as it is, and within JSON of those who escape <, > and & and
// of those who do not.
func quoted(text string) []string {
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

// packed is how gzip begins in base64: some tools keep whole objects so.
const packed = "H4sI"

// without hides the labels and annotations of an object that hold a secret, or
// may hold one unseen.
func without(o map[string]any, secrets []string) {
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

// likeOf is an object that was tried under another name, with the name and the
// uid of the one that it is to replace, wherever they stand in it: in labels of a
// Job's Pods, for one.
func likeOf(tried, live map[string]any) map[string]any {
	a, b := &unstructured.Unstructured{Object: tried}, &unstructured.Unstructured{Object: live}
	if tried == nil || live == nil || a.GetUID() == "" {
		return tried
	}
	same := strings.NewReplacer(a.GetName(), b.GetName(), string(a.GetUID()), string(b.GetUID()))
	renamed, _ := replaced(tried, same).(map[string]any)
	return renamed
}

func replaced(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaced(v[i], by)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = replaced(v[key], by)
		}
		return out
	}
	return v
}

// body is the whole object, or nil.
func body(o *unstructured.Unstructured) map[string]any {
	if o == nil {
		return nil
	}
	return o.Object
}
