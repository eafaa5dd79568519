package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf16"
)

// jsonDocuments splits a file of JSON objects, one after the other, as kubectl reads them.
// ok is false if it is no JSON, but perhaps YAML that begins with a brace.
func jsonDocuments(data []byte) (parts []part, ok bool) {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	for d, begin := json.NewDecoder(bytes.NewReader(data)), 0; d.More(); {
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil, false
		}
		end := int(d.InputOffset())
		indent := begin - 1 - bytes.LastIndexByte(data[:begin], '\n') // keeps the columns
		parts = append(parts, part{
			text:   append(bytes.Repeat([]byte(" "), indent), data[begin:end]...),
			before: bytes.Count(data[:begin], []byte("\n")),
		})
		begin = end
	}
	return parts, true
}

// yamlOf returns a document in YAML. Of JSON it replaces the escapes that YAML does not
// have: \/ and surrogate pairs (RFC 8259, section 7). A string that becomes shorter is followed
// by spaces, so that all that follows keeps its place.
func yamlOf(document []byte) []byte {
	if !json.Valid(document) {
		return document
	}
	var out bytes.Buffer
	lost, quoted := 0, false
	for i := 0; i < len(document); i++ {
		rest := document[i:]
		switch {
		case rest[0] == '"':
			out.WriteByte('"')
			if quoted {
				out.Write(bytes.Repeat([]byte(" "), lost))
				lost = 0
			}
			quoted = !quoted
		case rest[0] != '\\' || len(rest) < 2:
			out.WriteByte(rest[0])
		case rest[1] == '/':
			out.WriteByte('/')
			lost++
			i++
		case utf16.IsSurrogate(parseUnit(rest)):
			if r := utf16.DecodeRune(parseUnit(rest), parseUnit(rest[6:])); r != unicode.ReplacementChar {
				fmt.Fprintf(&out, `\U%08X`, r)
				lost += 2
				i += 11
			} else {
				out.WriteString(`\uFFFD`) // as encoding/json reads half a pair
				i += 5
			}
		default:
			out.Write(rest[:2])
			i++
		}
	}
	return out.Bytes()
}

// parseUnit returns the UTF-16 code unit of an escape \uXXXX that a text begins with, or 0.
func parseUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
