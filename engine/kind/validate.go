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

// addError records what is wrong with the value at path, or with the deepest part of it that is
// written.
func (c *settingsCheck) addError(path, format string, args ...any) {
	c.errs = append(c.errs, &template.Error{Place: c.written[path], Err: fmt.Errorf(format, args...)})
}

// checkAll checks all settings.
func (c *settingsCheck) checkAll() error {
	if c.written == nil {
		return nil
	}
	c.checkHeader()
	c.checkChildren()
	c.checkReads()
	c.checkRetired()
	c.deletionOrder()
	c.checkWaves()
	if !slices.Contains([]string{"", OnFailureStop, OnFailureRollback}, c.Rollout.OnFailure) {
		c.addError("rollout.onFailure", "rollout.onFailure must be %s or %s", OnFailureStop, OnFailureRollback)
	}
	if _, said := c.written["serviceAccountName"]; said {
		switch {
		case !c.namespaced:
			c.addError("serviceAccountName", "serviceAccountName is an account of the resource's namespace, and %s is cluster-scoped", c.own.Kind)
		case len(validation.IsDNS1123Subdomain(c.ServiceAccountName)) > 0:
			c.addError("serviceAccountName", "serviceAccountName must be the name of a service account")
		}
	}
	return errors.Join(c.errs...)
}

// checkHeader checks apiVersion and kind of the file.
func (c *settingsCheck) checkHeader() {
	for _, h := range []struct{ field, value, want string }{
		{"apiVersion", c.APIVersion, settingsVersion}, {"kind", c.Kind, settingsKind},
	} {
		if h.value != h.want {
			c.addError(h.field, "%s must be %s", h.field, h.want)
		}
	}
}

// parseKind reads apiVersion and kind of a rule. ok is false if something is wrong with them.
func (c *settingsCheck) parseKind(path, apiVersion, kind string) (gvk apischema.GroupVersionKind, ok bool) {
	for _, f := range []struct{ name, value string }{{"apiVersion", apiVersion}, {"kind", kind}} {
		if f.value == "" {
			c.addError(path, "%s needs %s", path, f.name)
			return gvk, false
		}
	}
	gv, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		c.addError(path+".apiVersion", "%s is no apiVersion: write group/version", apiVersion)
		return gvk, false
	}
	gvk = gv.WithKind(kind)
	if wrong := schema.Misplaced(gvk); wrong != "" {
		c.addError(path+".kind", "%s", wrong)
		return gvk, false
	}
	return gvk, true
}

// checkChildren checks the rules for children.
func (c *settingsCheck) checkChildren() {
	first := map[apischema.GroupVersionKind]string{}
	for i, rule := range c.Children {
		path := "children[" + strconv.Itoa(i) + "]"
		gvk, ok := c.parseKind(path, rule.APIVersion, rule.Kind)
		if !ok {
			continue
		}
		switch before, twice := first[gvk]; {
		case twice:
			c.addError(path, "%s declares %s as %s does: make them one", path, gvk.Kind, before)
		case gvk.GroupKind() == c.own:
			c.addError(path, "a folder may not create its own kind %s", gvk.Kind)
		case isList(gvk):
			c.addError(path, "a List is not allowed: name the kind of its items")
		}
		first[gvk] = path
		c.checkPlaces(path, gvk, rule.Namespaces)
	}
}

// checkPlaces checks where the objects of a kind may be.
func (c *settingsCheck) checkPlaces(path string, gvk apischema.GroupVersionKind, where Namespaces) {
	_, placed := c.written[path+".namespaces"]
	clusterScoped := schema.ClusterScoped(gvk.GroupKind())
	switch {
	case clusterScoped && placed:
		c.addError(path+".namespaces", "%s is cluster-scoped: it has no namespaces", gvk.Kind)
	case !clusterScoped && !c.namespaced && schema.BuiltIn(gvk) && !where.Elsewhere():
		c.addError(path, "%s is cluster-scoped and has no namespace for %s: add namespaces: rendered, or a list of names", c.own.Kind, gvk.Kind)
	}
	c.checkNamespaces(path, where.Listed)
}

// checkNamespaces checks the names of namespaces.
func (c *settingsCheck) checkNamespaces(path string, names []string) {
	for i, name := range names {
		if len(validation.IsDNS1123Label(name)) > 0 {
			c.addError(path+".namespaces["+strconv.Itoa(i)+"]", "this is no name of a namespace: lower case letters, digits and -")
		}
	}
}

// checkReads checks the rules for reads.
func (c *settingsCheck) checkReads() {
	for i, rule := range c.Reads {
		path := "reads[" + strconv.Itoa(i) + "]"
		gvk, ok := c.parseKind(path, rule.APIVersion, rule.Kind)
		if !ok {
			continue
		}
		clusterScoped := schema.ClusterScoped(gvk.GroupKind())
		switch {
		case clusterScoped && rule.Namespaces != nil:
			c.addError(path+".namespaces", "%s is cluster-scoped: it has no namespaces", gvk.Kind)
		case !clusterScoped && schema.BuiltIn(gvk) && len(rule.Namespaces) == 0:
			c.addError(path, "%s must say in which namespaces: add namespaces: [NAME]", path)
		}
		c.checkNamespaces(path, rule.Namespaces)
		for j, name := range rule.Names {
			if name == "" {
				c.addError(path+".names["+strconv.Itoa(j)+"]", "this is no name")
			}
		}
	}
}

func (c *settingsCheck) deletionOrder() {
	for i, file := range c.DeletionOrder {
		path := "deletionOrder[" + strconv.Itoa(i) + "]"
		switch {
		case !slices.Contains(c.files, file):
			c.addError(path, "the folder has no file %s.yaml; %s", file, suggestName(file, c.files))
		case slices.Index(c.DeletionOrder, file) < i:
			c.addError(path, "%s is named twice", file)
		}
	}
}

var isWave = regexp.MustCompile(`^([1-9][0-9]{0,8})(%?)$`)

// checkWaves checks that waves are positive and grow: numbers among numbers, percentages among
// percentages.
func (c *settingsCheck) checkWaves() {
	last := map[string]int{}
	for i, wave := range c.Rollout.Waves {
		path := "rollout.waves[" + strconv.Itoa(i) + "]"
		if wave.ByLabels() {
			c.checkLabels(path, wave)
			continue
		}
		m := isWave.FindStringSubmatch(wave.Size)
		if m == nil {
			c.addError(path, `%s must be a number of resources, such as "1", or per cent of them, such as "5%%", or have size, matchLabels or namespaceMatchLabels`, path)
			continue
		}
		n, _ := strconv.Atoi(m[1]) // at most nine digits
		switch {
		case m[2] != "" && n > 100:
			c.addError(path, "%s is more than all resources", path)
		case n <= last[m[2]]:
			c.addError(path, "%s is not larger than the wave before it", path)
		}
		last[m[2]] = n
	}
}

// checkLabels checks a wave that selects by labels.
func (c *settingsCheck) checkLabels(path string, wave Wave) {
	if wave.Size != "" {
		c.addError(path+".size", "%s.size: a wave has a size or selects by labels, not both", path)
	}
	if wave.NamespaceMatchLabels != nil && !c.namespaced {
		c.addError(path+".namespaceMatchLabels", "%s.namespaceMatchLabels: %s is cluster-scoped: its resources are in no namespace", path, c.own.Kind)
	}
	c.checkSelector(path+".matchLabels", wave.MatchLabels)
	c.checkSelector(path+".namespaceMatchLabels", wave.NamespaceMatchLabels)
}

// checkSelector checks labels that select, or nil if they are not written.
func (c *settingsCheck) checkSelector(path string, selects map[string]string) {
	if selects != nil && len(selects) == 0 {
		c.addError(path, "%s is empty, and would select all resources", path)
	}
	for _, key := range slices.Sorted(maps.Keys(selects)) {
		value, field := selects[key], path+"."+key
		switch {
		case len(validation.IsQualifiedName(key)) > 0:
			c.addError(field, "%s: %q is no key of a label", path, key)
		case len(validation.IsValidLabelValue(value)) > 0:
			c.addError(field, "%s: %s is no value of a label", field, value)
		}
	}
}
