package folder

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Source is a place that a kind's folder comes from.
type Source struct {
	Kind string
	// Shown names the place; it stays the same while the place does.
	Shown  string
	Folder *Folder
	// Rooted: it is in one of the operator's roots; release is that of the Helm
	// Release which a ConfigMap says that it belongs to.
	Rooted  bool
	Release string
	// Err says why the folder cannot be read.
	Err error
	// Partial: its parts are not all there, or not of one state; err says so.
	Partial bool
}

// OfConfigMaps are those that ConfigMaps hold, by name of their kind, as far as they
// can be read.
func OfConfigMaps(items []corev1.ConfigMap) map[string]*Folder {
	all := map[string]*Folder{}
	for _, o := range FromConfigMaps(items) {
		if o.Err == nil && all[o.Kind] == nil {
			all[o.Kind] = o.Folder
		}
	}
	return all
}

// A part is a ConfigMap that holds a folder, or one of several that do.
type part struct {
	*corev1.ConfigMap
	kind      string
	index, of int
	// state is what all parts of one state of the folder say alike, or "".
	state string
	err   error
}

// FromConfigMaps makes sources of ConfigMaps, by name: each is a folder, and those
// that say which part they are make one together with the others of as many.
func FromConfigMaps(items []corev1.ConfigMap) []Source {
	groups := map[string][]part{}
	for i := range items {
		p := partOf(&items[i])
		key := p.kind + " " + p.Name
		if p.of > 0 {
			key = fmt.Sprintf("%s %d parts", p.kind, p.of)
		}
		groups[key] = append(groups[key], p)
	}
	var sources []Source
	for _, parts := range groups {
		slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
		sources = append(sources, joinParts(parts))
	}
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Shown, b.Shown) })
	return sources
}

// KindOf returns the name of the CRD whose folder, or a part of it, a ConfigMap holds; "" if
// it holds none.
func KindOf(m *corev1.ConfigMap) string {
	if long := m.Annotations[api.AnnotationKind]; long != "" {
		return long
	}
	return m.Labels[api.LabelKind]
}

func partOf(m *corev1.ConfigMap) part {
	p := part{ConfigMap: m, kind: KindOf(m)}
	text, found := m.Annotations[api.AnnotationPart]
	if !found {
		return p
	}
	text, p.state, _ = strings.Cut(text, " ")
	first, second, _ := strings.Cut(text, "/")
	index, err := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if err != nil || err2 != nil || index < 1 || index > of {
		p.err = fmt.Errorf("ConfigMap %s/%s: the annotation %s must say which part it is, such as 1/3, and may say after a blank what all parts have in common", m.Namespace, m.Name, api.AnnotationPart)
		return p
	}
	p.index, p.of = index, of
	return p
}

// joinParts makes one source of all parts of a folder.
func joinParts(parts []part) Source {
	first := parts[0]
	s := Source{Kind: first.kind, Shown: "configmap " + first.Namespace + "/" + first.Name, Release: first.Labels[api.LabelInstance]}
	if first.err != nil {
		s.Err = first.err
		return s
	}
	data, seen := map[string][]byte{}, map[int]string{}
	var overrides *File
	var errs []error
	for _, p := range parts {
		if settings := p.findSettings(); settings != nil && p.index > 1 {
			errs = append(errs, fmt.Errorf("%s: it is part %d of the folder, and settings stand on part 1: move the annotation there",
				settings.Shown, p.index))
		} else if settings != nil {
			overrides = settings
		}
		if other, twice := seen[p.index]; twice {
			errs = append(errs, fmt.Errorf("%s and ConfigMap %s say both that they are part %d of %d: remove one", s.Shown, other, p.index, p.of))
		}
		seen[p.index] = p.Name
		if p.state != first.state {
			s.Partial = true
			errs = append(errs, fmt.Errorf("%s and ConfigMap %s are parts of different states of the folder: %q and %q", s.Shown, p.Name,
				first.state, p.state))
		}
		for key, value := range p.fileContents() {
			if _, twice := data[key]; twice {
				errs = append(errs, fmt.Errorf("%s/%s: the file is in two parts of the folder: remove one", s.Shown, key))
			}
			data[key] = value
		}
	}
	missing := first.missingParts(seen)
	s.Partial = s.Partial || len(missing) > 0
	if errs = append(errs, missing...); len(errs) > 0 {
		s.Err = errors.Join(errs...)
		return s
	}
	s.Folder, s.Err = FromMap(s.Kind, s.Shown, data)
	s.Folder.Overrides = overrides
	s.Folder.Digest = s.Folder.computeDigest()
	return s
}

// mostMissing is how many parts that are not there are named: of how many a
// folder consists is what somebody wrote, and may be any number.
const mostMissing = 5

// missingParts returns the errors for the parts that are not among the numbers seen.
func (p part) missingParts(seen map[int]string) []error {
	var errs []error
	for i, left := 1, p.of-len(seen); left > 0; i++ {
		if seen[i] != "" {
			continue
		}
		if len(errs) == mostMissing {
			return append(errs, fmt.Errorf("configmap %s/%s: %d more parts are not there", p.Namespace, p.Name, left))
		}
		errs = append(errs, fmt.Errorf("configmap %s/%s: part %d of %d is not there", p.Namespace, p.Name, i, p.of))
		left--
	}
	return errs
}

// findSettings returns what the annotation with settings holds, or nil without it.
func (p part) findSettings() *File {
	text, found := p.Annotations[api.AnnotationConfig]
	if !found {
		return nil
	}
	shown := fmt.Sprintf("configmap %s/%s annotation %s", p.Namespace, p.Name, api.AnnotationConfig)
	return &File{Name: api.AnnotationConfig, Shown: shown, Data: Clean([]byte(text))}
}

// fileContents returns the files of a ConfigMap.
func (p part) fileContents() map[string][]byte {
	files := maps.Clone(p.BinaryData)
	if files == nil {
		files = map[string][]byte{}
	}
	for key, text := range p.Data {
		files[key] = []byte(text)
	}
	return files
}
