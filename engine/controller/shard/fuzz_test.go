package shard

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzSelectors: no resource belongs to two shares that count as disjoint.
func FuzzSelectors(f *testing.F) {
	for _, pair := range [][2]string{
		{"a=b", "a!=b"}, {"a", "!a"}, {"a in (b,c)", "a notin (b)"}, {"a>1", "a<1"}, {"a=b,c", "c=d"}, {"", "a=b"},
		{"a in (x,y),b!=z", "a=y,b=q"},
	} {
		f.Add(pair[0], pair[1], "n", "n", "a=b,c=d")
		f.Add(pair[1], pair[0], "", "m", "")
	}
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, one, other, here, there, marks string) {
		a, errA := labels.Parse(one)
		b, errB := labels.Parse(other)
		if errA != nil || errB != nil {
			return
		}
		parsed()
		x, y := Shard{Identity: "x", Selector: a}, Shard{Identity: "y", Selector: b}
		x.Namespaces, y.Namespaces = words(here), words(there)
		apart := areDisjoint(x, y)
		if apart != areDisjoint(y, x) {
			t.Fatalf("%s and %s are disjoint in one order", x, y)
		}
		for _, o := range resources(a, b, marks, slices.Concat(x.Namespaces, y.Namespaces, []string{"n"})) {
			if apart && x.Covers(o) && y.Covers(o) {
				t.Fatalf("%s and %s count as disjoint and both have %v in %s", x, y, o.Labels, o.Namespace)
			}
		}
	})
}

func words(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "" })
}

// resources have the labels that two selectors ask for, and others.
func resources(a, b labels.Selector, marks string, namespaces []string) []*metav1.ObjectMeta {
	all := []map[string]string{{}, {}}
	for i, s := range []labels.Selector{a, b} {
		requirements, _ := s.Requirements()
		for _, r := range requirements {
			for _, v := range slices.Sorted(slices.Values(r.ValuesUnsorted())) {
				all[i][r.Key()] = v
			}
			if len(r.ValuesUnsorted()) == 0 {
				all[i][r.Key()] = "any"
			}
		}
	}
	if set, err := labels.ConvertSelectorToLabelsMap(marks); err == nil {
		all = append(all, set)
	}
	var objects []*metav1.ObjectMeta
	for _, set := range all {
		for _, n := range namespaces {
			objects = append(objects, &metav1.ObjectMeta{Namespace: n, Labels: set})
		}
	}
	return objects
}

// FuzzClaims: what stands on a CRD is a claim of somebody, one that cannot be
// read of everything; and a claim that was staked is found and conflicts with
// nobody's own.
func FuzzClaims(f *testing.F) {
	f.Add("a/b", "x-1", `{"identity":"c/d","namespaces":["n"],"selector":"a=b"}`, "a=b", "n")
	f.Add("", "", "{}", "", "")
	f.Add("a", "x", `{"identity":"y","selector":"((("}`, "!a", "n m")
	f.Add("a", "x", "no JSON", "a in (b)", "")
	parsed := fuzzed.Passed(f)
	f.Fuzz(func(t *testing.T, identity, key, text, selector, namespaces string) {
		s, err := labels.Parse(selector)
		if err != nil || identity == "" || CheckIdentity(identity) != nil || !utf8.ValidString(namespaces) {
			return
		}
		parsed()
		crd := &metav1.ObjectMeta{Annotations: map[string]string{prefix + key: text}}
		for _, c := range Claims(crd) {
			if c.Identity == "" || c.Conflict(Claims(crd)) != nil {
				t.Fatalf("%q is read as %v", text, c)
			}
		}
		mine := Shard{Identity: identity, Selector: s, Namespaces: words(namespaces)}
		for name, value := range mine.ClaimAnnotation(crd) {
			if text, ok := value.(string); ok {
				crd.Annotations[name] = text
			} else {
				delete(crd.Annotations, name)
			}
		}
		again := mine.ClaimAnnotation(crd)
		for name, value := range again {
			if value != nil && crd.Annotations[name] != value {
				t.Fatalf("%v is staked twice, as %q and %q", mine, crd.Annotations[name], value)
			}
		}
		if !mine.Holds(Claims(crd)) || !slices.ContainsFunc(Claims(crd), func(c Claim) bool { return c.Identity == identity }) {
			t.Fatalf("%v is not on the CRD: %v", mine, crd.Annotations)
		}
		key, written := mine.Claim()
		if read := claimed(crd, key); read.String() != mine.String() || read.Whole() != mine.Whole() || !api.Reserved(key) {
			t.Fatalf("%v is read as %v of %q", mine, read, written)
		}
	})
}

func claimed(crd metav1.Object, key string) Shard {
	for _, c := range Claims(crd) {
		if c.Key == key {
			return c.Shard
		}
	}
	return Shard{}
}
