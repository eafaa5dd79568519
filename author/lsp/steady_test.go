package lsp

import (
	"slices"
	"strings"
	"testing"
)

// TestOwnErrorsStay: what is wrong with one file hides nothing of another one, neither at
// a keystroke nor in the check of the whole kind.
func TestOwnErrorsStay(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(cm, cmText+"  a: {{ include \"zz\" . }}\n")
	e.open(deployment)
	e.finds(cm, "6:9 syntax there is no template \"zz\"")
	e.set(deployment, e.texts[deployment]+"{\n")
	e.until("the deployment does not parse", func() bool { return len(e.found(deployment)) > 0 && e.current(deployment) })
	e.set(cm, e.texts[cm]+"\n")
	e.whole(cm)
	e.whole(deployment)
	e.finds(cm, "6:9 syntax there is no template \"zz\"")

	// Nor does a partial that is called.
	e.set(cm, cmText+"  b: {{ .spec.imgae }}\n  c: {{ include \"containerPorts\" . }}\n")
	e.open(ports)
	for _, with := range []string{"{{ if }}\n", "{{ include \"zz\" . }}\n", "{{ if nonsense }}{{ end }}\n"} {
		was := e.texts[ports]
		e.replace(ports, "\"containerPorts\" }}\n", "\"containerPorts\" }}\n"+with)
		e.until("the partial has an error", func() bool { return len(e.found(ports)) > 0 && e.current(ports) })
		e.set(cm, e.texts[cm]+"\n")
		e.until("the file has its error", func() bool {
			return e.current(cm) && slices.ContainsFunc(e.found(cm), func(f string) bool { return strings.HasPrefix(f, "6:9 unknown-field") })
		})
		e.set(ports, was)
	}
}

// TestGoodFindingsStay: while a template does not parse, findings of other files stay.
func TestGoodFindingsStay(t *testing.T) {
	root := copied(t, app)
	write(t, root, "templates/"+app+"/_more.tpl", "{{ define \"unused\" }}a: b{{ end }}\n")
	write(t, root, cm, cmText+"  a: {{ .spec.imgae }}\n")
	e := startEditor(t, root)
	e.open(deployment)
	e.replace(deployment, "env: {{ .spec.envs }}", "env: []")
	const more = "templates/" + app + "/_more.tpl"
	hasAll := func() bool {
		return len(e.found(more)) == 1 && len(e.found(cm)) == 1 &&
			slices.ContainsFunc(e.found(crd), func(f string) bool { return strings.Contains(f, "unused-field") })
	}
	e.until("there are findings in three files", hasAll)
	e.set(deployment, e.texts[deployment]+"{{ if }}\n")
	e.until("the deployment does not parse", func() bool { return len(e.found(deployment)) > 0 && e.current(deployment) })
	e.whole(deployment)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !hasAll() {
		t.Errorf("got %q, %q, %q", e.found(more), e.found(cm), e.found(crd))
	}
}

// TestNoInterimEmpty: findings of files that only a whole check sees stay while they are
// typed in.
func TestNoInterimEmpty(t *testing.T) {
	const settings = "templates/" + app + "/kind.yaml"
	for _, tt := range []struct{ file, wrong, by, old, with string }{
		{settings, "kind: KindSettings\n", "kind: KindSettings\nworkerz: 3\n", "workerz: 3", "workerz: 34"},
		{example, "image:", "imgae:", "imgae: ", "imgae:  "},
		{crd, "              image:", "              nobody: {type: string}\n              image:", "nobody: {type:", "nobody: {type: "},
	} {
		root := copied(t, app)
		write(t, root, settings, "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\n")
		e := startEditor(t, root)
		e.open(tt.file)
		e.open(deployment)
		e.replace(tt.file, tt.wrong, tt.by)
		e.until(tt.file+" has a finding", func() bool { return len(e.found(tt.file)) > 0 && e.current(tt.file) })
		for _, change := range [][2]string{{tt.old, tt.with}, {"apiVersion:", "# a\napiVersion:"}} {
			e.set(tt.file, strings.Replace(e.texts[tt.file], change[0], change[1], 1))
			e.set(deployment, e.texts[deployment]+"\n")
			e.whole(deployment)
			e.until("the change is checked", func() bool { return e.current(tt.file) })
			e.mu.Lock()
			for _, p := range e.publications(tt.file) {
				if len(p.Diagnostics) == 0 {
					t.Errorf("%s: with %q an empty list was told", tt.file, change[1])
				}
			}
			e.mu.Unlock()
		}
	}
}
