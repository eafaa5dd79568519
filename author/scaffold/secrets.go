package scaffold

import (
	"fmt"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// changeMe stands in the example for what must not be copied.
const changeMe = "change-me"

const secretWords = `passw(or)?d|passphrase|secret|token|credential|api_?key|private_?key|access_?key`

var (
	secretName = regexp.MustCompile(`(?i)(` + secretWords + `)`)
	// whereabouts end names of what says where to find a secret, or how long it lasts.
	whereabouts = regexp.MustCompile(`(?i)[-_.](FILE|PATH|NAME|DIR|URL|TTL|EXPIRY)$`)
	// account is the user and password of a URL.
	account = regexp.MustCompile(`://[^/@\s:]*:[^/@\s]+@`)
	// setting is one, or a flag, with what looks like a secret.
	setting = regexp.MustCompile(`(?im)([-_.\w]*(?:` + secretWords + `))["']?\s*[=:]\s*[^\s$]`)
)

// looksSecret reports whether a variable of this name holds what nobody else
// should know; one that says where to find it does not.
func looksSecret(name string) bool {
	return secretName.MatchString(name) && !whereabouts.MatchString(name)
}

// hideSecrets replaces the values of variables and of a ConfigMap's keys that look like secrets.
// The spec must set them, and no template or default holds them. A secret in the midst of other
// text is only noted.
func (w *making) hideSecrets(m *manifest) {
	for _, c := range podContainers(m) {
		for _, env := range listItems(c, "env") {
			w.hideValue(m, textAt(env, "name"), findNode(env, "value"))
		}
		for _, n := range append(listItems(c, "command"), listItems(c, "args")...) {
			w.noteSuspect(m, "the command line of container "+textAt(c, "name"), n)
		}
	}
	if m.gvk.Kind == "ConfigMap" && m.gvk.Group == "" {
		eachEntry(findNode(m.node, "data"), func(key string, v *node) { w.hideValue(m, key, v) })
	}
}

func (w *making) hideValue(m *manifest, name string, v *node) {
	switch {
	case v == nil || v.Kind != yamlv3.ScalarNode || v.Value == "":
	case strings.Contains(v.Value, "\n"):
		w.noteSuspect(m, name, v)
	case looksSecret(name) || account.MatchString(v.Value):
		*v = node{Kind: yamlv3.ScalarNode, Tag: "!!str", Value: changeMe}
		w.draft.Note(fmt.Sprintf("%s: %s looks like a secret: its value was left out, and each resource must say it. Better read it from a Secret", m, name))
	}
}

// noteSuspect adds a note on a text that was copied and may hold a secret.
func (w *making) noteSuspect(m *manifest, what string, v *node) {
	if account.MatchString(v.Value) || setting.MatchString(v.Value) {
		w.draft.Note(fmt.Sprintf("%s: %s was copied, and seems to hold a secret: take it out before anybody else sees it, and read it from a Secret", m, what))
	}
}
