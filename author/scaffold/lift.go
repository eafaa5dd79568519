package scaffold

import (
	"fmt"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

const quantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

func textType(least int64) map[string]any {
	return map[string]any{"type": "string", "minLength": least}
}

func wholeType(least, most int64) map[string]any {
	return map[string]any{"type": "integer", "format": "int32", "minimum": least, "maximum": most}
}

func quantityType() map[string]any {
	return map[string]any{"x-kubernetes-int-or-string": true, "pattern": quantity}
}

func resourcesType() map[string]any {
	list := func(note string) map[string]any {
		return map[string]any{"description": note, "type": "object", "additionalProperties": quantityType()}
	}
	return map[string]any{"type": "object", "properties": map[string]any{
		"requests": list("What is asked for, such as cpu and memory."), "limits": list("What may be used at most."),
	}}
}

// liftValues moves what varies into the spec.
func (w *making) liftValues() {
	for _, m := range w.all {
		if m.gvk.Kind == "Service" && m.gvk.Group == "" && !m.patch {
			w.liftService(m)
		}
	}
	for _, m := range w.all {
		if isWorkload(m) {
			w.liftWorkload(m)
		}
	}
	w.liftBackends()
	for _, m := range w.all {
		if m.patch {
			continue
		}
		switch m.gvk.Kind {
		case "Service":
			w.liftTargets(m)
		case "ConfigMap":
			w.liftData(m)
		default:
			w.liftOther(m)
		}
	}
	w.followHosts()
}

// followHosts lets other texts that are the name of a host follow the field
// that it was lifted into, such as the names of a certificate.
func (w *making) followHosts() {
	for _, m := range w.all {
		withParents(m.node, func(path []string, _, n *node) {
			if action := w.refs["host/"+n.Value]; action != "" && !m.patch && path[0] != "metadata" {
				w.tokens.set(n, action)
			}
		})
	}
}

// groupNotes say what the fields of a group are; those of other groups are what
// belongs to the workload of that name.
var groupNotes = map[string]string{
	"env": "Environment variables, by name.", "config": "Texts of the ConfigMap, by key.", "ports": "Port numbers, by name.",
}

// liftValue lifts one value into a group of the spec and returns its action. A value that is
// absent, or follows a name, stays.
func (w *making) liftValue(n *node, group []string, leaf field) string {
	if n == nil || w.tokens.hasTokens(n.Value) {
		return ""
	}
	leaf.value = valueOf(n)
	if !fitsLeaf(leaf.schema, leaf.value) {
		return ""
	}
	within := w.spec
	path := ".spec"
	for _, name := range group {
		within = within.ensureGroup(name, groupNotes[name])
		path += "." + within.name
	}
	action := "{{ " + path + "." + within.add(leaf, strings.HasSuffix(strings.ToLower(leaf.name), "host")) + " }}"
	w.tokens.set(n, action)
	return action
}

// fitsLeaf reports whether a value is of the type of a leaf. A manifest may be wrong, or use a form
// that the schema does not have.
func fitsLeaf(schema map[string]any, v any) bool {
	switch v := v.(type) {
	case string:
		return (schema["type"] == "string" && int64(len(v)) >= minLength(schema)) || schema["x-kubernetes-int-or-string"] == true
	case int64:
		return schema["type"] == "integer" && v >= schema["minimum"].(int64) && v <= schema["maximum"].(int64) ||
			schema["x-kubernetes-int-or-string"] == true
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for key, inner := range v {
			list, isMap := inner.(map[string]any)
			if properties[key] == nil || !isMap {
				return false
			}
			for _, amount := range list {
				if _, fraction := amount.(float64); fraction {
					return false
				}
			}
		}
		return schema["type"] == "object" && len(v) > 0
	}
	return false
}

func minLength(schema map[string]any) int64 {
	least, _ := schema["minLength"].(int64)
	return least
}

// liftWorkload lifts what varies of what runs.
func (w *making) liftWorkload(m *manifest) {
	group, spec := m.group, findNode(m.node, "spec")
	w.liftValue(findNode(spec, "replicas"), group,
		field{name: "replicas", note: "How many Pods run.", schema: wholeType(0, 1000), shown: true})
	if m.gvk.Kind == "CronJob" {
		w.liftValue(findNode(spec, "schedule"), group,
			field{name: "schedule", note: "When it runs, as cron has it.", schema: textType(1), shown: true})
	}
	all := podContainers(m)
	for _, c := range all {
		inner := group
		if len(all) > 1 {
			inner = append(append([]string{}, group...), camelCase(textAt(c, "name")))
		}
		w.liftContainer(m, c, inner)
	}
	claims := listItems(spec, "volumeClaimTemplates")
	for _, claim := range claims {
		prefix := ""
		if len(claims) > 1 {
			prefix = textAt(claim, "metadata", "name")
		}
		w.liftClaim(findNode(claim, "spec"), group, prefix)
	}
}

func (w *making) liftContainer(m *manifest, c *node, group []string) {
	name := textAt(c, "name")
	w.liftValue(findNode(c, "image"), group,
		field{name: "image", note: "The image of the container " + name + ".", schema: textType(1), shown: true})
	w.liftContainerPorts(m, c, group)
	for _, env := range listItems(c, "env") {
		v, variable := findNode(env, "value"), textAt(env, "name")
		if v == nil || v.Tag != "!!str" {
			continue
		}
		leaf := field{name: variable, schema: map[string]any{"type": "string"}}
		if !identifier.MatchString(variable) {
			leaf.name, leaf.note = camelCase(variable), "The environment variable "+variable+"."
		}
		leaf.required = v.Value == changeMe
		w.liftValue(v, append(append([]string{}, group...), "env"), leaf)
	}
	w.liftValue(findNode(c, "resources"), group, field{name: "resources",
		note:   "What the container " + name + " asks for, and what it may use at most.",
		schema: resourcesType()})
}

// liftClaim lifts size and class of a claim to a volume.
func (w *making) liftClaim(spec *node, group []string, prefix string) {
	w.liftValue(findNode(spec, "resources", "requests", "storage"), group,
		field{name: camelCase(prefix, "storage"), note: "How large the volume is.", schema: quantityType(), shown: true})
	w.liftValue(findNode(spec, "storageClassName"), group,
		field{name: camelCase(prefix, "storageClassName"), note: "The class of the volume.", schema: textType(0)})
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// liftData lifts the texts of a ConfigMap: a line into the spec, more lines
// into a file of their own.
func (w *making) liftData(m *manifest) {
	group := append(append([]string{}, m.group...), "config")
	eachEntry(findNode(m.node, "data"), func(key string, v *node) {
		switch {
		case v.Tag != "!!str" || w.tokens.hasTokens(v.Value):
		case strings.Contains(v.Value, "\n"):
			name := w.fileName(m, key)
			w.draft.AddTemplate("files/"+name, v.Value)
			w.tokens.set(v, fmt.Sprintf("{{ file %q }}", name))
		default:
			leaf := field{name: key, schema: map[string]any{"type": "string"}}
			if !identifier.MatchString(key) {
				leaf.name, leaf.note = camelCase(key), "The text "+key+"."
			}
			leaf.required = v.Value == changeMe
			w.liftValue(v, group, leaf)
		}
	})
}

// fileName is a name in files/ that no other text has.
func (w *making) fileName(m *manifest, key string) string {
	name := strings.TrimLeft(key, ".")
	for _, f := range w.draft.Files {
		if strings.HasSuffix(f.Path, "/files/"+name) || name == "" {
			return m.file + "-" + key
		}
	}
	return name
}

// liftOther lifts what varies of kinds that run nothing.
func (w *making) liftOther(m *manifest) {
	group, spec := m.group, findNode(m.node, "spec")
	intOrText := func(note string) map[string]any {
		return map[string]any{"x-kubernetes-int-or-string": true, "pattern": `^[0-9]+%?$`, "description": note}
	}
	switch m.gvk.Kind {
	case "PersistentVolumeClaim":
		w.liftClaim(spec, group, "")
	case "HorizontalPodAutoscaler":
		w.liftValue(findNode(spec, "minReplicas"), group,
			field{name: "minReplicas", note: "How many Pods run at least.", schema: wholeType(0, 1000), shown: true})
		w.liftValue(findNode(spec, "maxReplicas"), group,
			field{name: "maxReplicas", note: "How many Pods run at most.", schema: wholeType(1, 1000), shown: true})
	case "PodDisruptionBudget":
		for key, note := range map[string]string{
			"minAvailable":   "How many Pods must stay up while nodes are drained: a number, or a percentage of all.",
			"maxUnavailable": "How many Pods may be down while nodes are drained: a number, or a percentage of all.",
		} {
			w.liftValue(findNode(spec, key), group, field{name: key, note: note, schema: intOrText(note)})
		}
	case "Ingress", "Route":
		w.liftValue(findNode(spec, "ingressClassName"), group,
			field{name: "ingressClassName", note: "The class of the Ingress.", schema: textType(1)})
		for _, n := range append([]*node{spec}, listItems(spec, "rules")...) {
			w.liftHost(findNode(n, "host"), group)
		}
		for _, tls := range listItems(spec, "tls") {
			for _, n := range listItems(tls, "hosts") {
				w.liftHost(n, group)
			}
		}
	case "HTTPRoute":
		for _, n := range listItems(spec, "hostnames") {
			w.liftHost(n, group)
		}
	}
}

func (w *making) liftHost(n *node, group []string) {
	if n != nil && n.Kind == yamlv3.ScalarNode {
		name := n.Value
		if action := w.liftValue(n, group, field{name: "host", note: "The host name under which it is reached.", schema: textType(1),
			shown: true}); action != "" {
			w.refs["host/"+name] = action
		}
	}
}
