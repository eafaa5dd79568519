package pack_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/pack"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// FuzzPack: what is packed is read back as the very folder, whatever is in its
// files and however long they are. Texts that are quoted keep it to what compiles.
func FuzzPack(f *testing.F) {
	f.Add("data: {a: b}\n", "{{ define \"a\" }}a{{ end }}", []byte("a\x00b"), uint(1), false)
	f.Add("# \u2028\ufeff\u0085 yes\n", "\r\n", []byte("--- \n: a"), uint(99), true)
	f.Add("data:\n  a: {{ include \"a\" . }}", "{{ define \"a\" }}--- \n{{ end }}", []byte("\"<&>\\"), uint(30), false)
	f.Add("data: {b: c}\n", "", bytes.Repeat([]byte("\x00\xff line\n"), 700), uint(99), true) // more than one ConfigMap holds
	crd := folder.File{Name: "crd.yaml", Shown: "crd.yaml", Data: bytes.ReplaceAll([]byte(crdText), []byte("GROUP"), []byte("example.com"))}
	definition, err := crdfile.Parse(crd.Shown, crd.Data)
	if err != nil {
		f.Fatal(err)
	}
	packed, plain := fuzzed.Passed(f), strings.NewReplacer("{{", "", "}}", "")
	f.Fuzz(func(t *testing.T, text, partial string, data []byte, times uint, quoted bool) {
		if quoted {
			text = "data: {b: " + fuzzed.JSON(t, plain.Replace(text)) + "}\n"
			partial = "{{ define \"a\" }}" + plain.Replace(partial) + "{{ end }}"
		}
		file := bytes.Repeat(data, int(times%100))
		in, err := folder.FromMap("webs.example.com", "", map[string][]byte{
			"map.yaml": []byte(config + text), "_a.tpl": []byte(partial), "files--a": file[:min(len(file), folder.MaxFile)], "files--b": data,
		})
		if err != nil {
			return
		}
		k, err := kind.Compile(in, definition)
		if err != nil {
			return
		}
		packed()
		again := folder.OfConfigMaps(configMaps(t, pack.Input{Kind: k, Folder: in, CRD: crd}))["webs.example.com"]
		if again == nil {
			t.Fatal("no folder comes out")
		}
		if out := compile(t, again, crd); out.Digest != k.Digest {
			t.Fatalf("it comes out as %s and went in as %s", out.Digest, k.Digest)
		}
		if len(again.Files) != 2 || !bytes.Equal(again.Files[1].Data, data) {
			t.Fatal("a file is not the same")
		}
	})
}
