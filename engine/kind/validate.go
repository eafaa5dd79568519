package kind

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A settingsCheck says what is wrong with settings that are well-formed.
type settingsCheck struct {
	*Settings
	written    places
	own        apischema.GroupKind
	namespaced bool
	files      []string
	kind       *Kind
	errs       []error
}

// fail adds what is wrong with the value at path, or with the deepest part of
// it that is written.
func (c *settingsCheck) fail(path, format string, args ...any) {
	c.errs = append(c.errs, &template.Error{Place: c.written[path], Err: fmt.Errorf(format, args...)})
}

func (c *settingsCheck) all() error {
	if c.written == nil {
		return nil
	}
	c.header()
	c.children()
	c.reads()
	c.retired()
	c.deleteOrder()
	c.waves()
	if !slices.Contains([]string{"", OnFailureStop, OnFailureRollback}, c.Rollout.OnFailure) {
		c.fail("rollout.onFailure", "rollout.onFailure must be %s or %s", OnFailureStop, OnFailureRollback)
	}
	if _, said := c.written["serviceAccountName"]; said {
		switch {
		case !c.namespaced:
			c.fail("serviceAccountName", "serviceAccountName is an account of the resource's namespace, and %s is cluster-scoped", c.own.Kind)
		case len(validation.IsDNS1123Subdomain(c.ServiceAccountName)) > 0:
			c.fail("serviceAccountName", "serviceAccountName must be the name of a service account")
		}
	}
	return errors.Join(c.errs...)
}

func (c *settingsCheck) header() {
	for _, h := range []struct{ field, value, want string }{
		{"apiVersion", c.APIVersion, settingsVersion}, {"kind", c.Kind, settingsKind},
	} {
		if h.value != h.want {
			c.fail(h.field, "%s must be %s", h.field, h.want)
		}
	}
}

// gvk reads apiVersion and kind of a rule; ok is false if something is wrong
// with them.
func (c *settingsCheck) gvk(path, apiVersion, kind string) (gvk apischema.GroupVersionKind, ok bool) {
	for _, f := range []struct{ name, value string }{{"apiVersion", apiVersion}, {"kind", kind}} {
		if f.value == "" {
			c.fail(path, "%s needs %s", path, f.name)
			return gvk, false
		}
	}
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		c.fail(path+".apiVersion", "%s is no apiVersion: write group/version", apiVersion)
		return gvk, false
	}
	gvk = gv.WithKind(kind)
	if wrong := schema.Misplaced(gvk); wrong != "" {
		c.fail(path+".kind", "%s", wrong)
		return gvk, false
	}
	return gvk, true
}

func (c *settingsCheck) children() {
	first := map[apischema.GroupVersionKind]string{}
	for i, rule := range c.Children {
		path := "children[" + strconv.Itoa(i) + "]"
		gvk, ok := c.gvk(path, rule.APIVersion, rule.Kind)
		if !ok {
			continue
		}
		switch before, twice := first[gvk]; {
		case twice:
			c.fail(path, "%s declares %s as %s does: make them one", path, gvk.Kind, before)
		case gvk.GroupKind() == c.own:
			c.fail(path, "a folder may not create its own kind %s", gvk.Kind)
		case isList(gvk):
			c.fail(path, "a List is not allowed: name the kind of its items")
		}
		first[gvk] = path
		c.places(path, gvk, rule.Namespaces)
	}
}

// places checks where the objects of a kind may be.
func (c *settingsCheck) places(path string, gvk apischema.GroupVersionKind, where Namespaces) {
	_, placed := c.written[path+".namespaces"]
	clusterScoped := schema.ClusterScoped(gvk.GroupKind())
	switch {
	case clusterScoped && placed:
		c.fail(path+".namespaces", "%s is cluster-scoped: it has no namespaces", gvk.Kind)
	case !clusterScoped && !c.namespaced && schema.BuiltIn(gvk) && !where.Elsewhere():
		c.fail(path, "%s is cluster-scoped and has no namespace for %s: add namespaces: rendered, or a list of names", c.own.Kind, gvk.Kind)
	}
	c.namespaces(path, where.Listed)
}

// namespaces checks the names of namespaces.
func (c *settingsCheck) namespaces(path string, names []string) {
	for i, name := range names {
		if len(validation.IsDNS1123Label(name)) > 0 {
			c.fail(path+".namespaces["+strconv.Itoa(i)+"]", "this is no name of a namespace: lower case letters, digits and -")
		}
	}
}

func (c *settingsCheck) reads() {
	for i, rule := range c.Reads {
		path := "reads[" + strconv.Itoa(i) + "]"
		gvk, ok := c.gvk(path, rule.APIVersion, rule.Kind)
		if !ok {
			continue
		}
		clusterScoped := schema.ClusterScoped(gvk.GroupKind())
		switch {
		case clusterScoped && rule.Namespaces != nil:
			c.fail(path+".namespaces", "%s is cluster-scoped: it has no namespaces", gvk.Kind)
		case !clusterScoped && schema.BuiltIn(gvk) && len(rule.Namespaces) == 0:
			c.fail(path, "%s must say in which namespaces: add namespaces: [NAME]", path)
		}
		c.namespaces(path, rule.Namespaces)
		for j, name := range rule.Names {
			if name == "" {
				c.fail(path+".names["+strconv.Itoa(j)+"]", "this is no name")
			}
		}
	}
}

func (c *settingsCheck) deleteOrder() {
	for i, file := range c.DeleteOrder {
		path := "deleteOrder[" + strconv.Itoa(i) + "]"
		switch {
		case !slices.Contains(c.files, file):
			c.fail(path, "the folder has no file %s.yaml; %s", file, meant(file, c.files))
		case slices.Index(c.DeleteOrder, file) < i:
			c.fail(path, "%s is named twice", file)
		}
	}
}

var isWave = regexp.MustCompile(`^([1-9][0-9]{0,8})(%?)$`)

// waves checks that waves are positive and grow: numbers among numbers, per
// cents among per cents.
func (c *settingsCheck) waves() {
	last := map[string]int{}
	for i, wave := range c.Rollout.Waves {
		path := "rollout.waves[" + strconv.Itoa(i) + "]"
		if wave.ByLabels() {
			c.labels(path, wave)
			continue
		}
		m := isWave.FindStringSubmatch(wave.Size)
		if m == nil {
			c.fail(path, `%s must be a number of resources, such as "1", or per cent of them, such as "5%%", or have size, matchLabels or namespaceMatchLabels`, path)
			continue
		}
		n, _ := strconv.Atoi(m[1]) // at most nine digits
		switch {
		case m[2] != "" && n > 100:
			c.fail(path, "%s is more than all resources", path)
		case n <= last[m[2]]:
			c.fail(path, "%s is not larger than the wave before it", path)
		}
		last[m[2]] = n
	}
}

// labels checks a wave that selects by labels.
func (c *settingsCheck) labels(path string, wave Wave) {
	if wave.Size != "" {
		c.fail(path+".size", "%s.size: a wave has a size or selects by labels, not both", path)
	}
	if wave.NamespaceMatchLabels != nil && !c.namespaced {
		c.fail(path+".namespaceMatchLabels", "%s.namespaceMatchLabels: %s is cluster-scoped: its resources are in no namespace", path, c.own.Kind)
	}
	c.selector(path+".matchLabels", wave.MatchLabels)
	c.selector(path+".namespaceMatchLabels", wave.NamespaceMatchLabels)
}

// selector checks labels that select; nil if they are not written.
func (c *settingsCheck) selector(path string, selects map[string]string) {
	if selects != nil && len(selects) == 0 {
		c.fail(path, "%s is empty, and would select all resources", path)
	}
	for _, key := range slices.Sorted(maps.Keys(selects)) {
		value, field := selects[key], path+"."+key
		switch {
		case len(validation.IsQualifiedName(key)) > 0:
			c.fail(field, "%s: %q is no key of a label", path, key)
		case len(validation.IsValidLabelValue(value)) > 0:
			c.fail(field, "%s: %s is no value of a label", field, value)
		}
	}
}
