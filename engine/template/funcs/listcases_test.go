package funcs

import "testing"

var listCases = []funcCase{
	{"list", l{}, l{}},
	{"list", l{1, nil}, l{1, nil}},
	{"tuple", l{1}, l{1}},
	{"append", l{l{1}, 2}, l{1, 2}},
	{"append", l{nil, 2}, l{2}},
	{"mustAppend", l{l{1}, l{2}}, l{1, l{2}}},
	{"push", l{l{1}, 2}, l{1, 2}},
	{"mustPush", l{l{1}, 2}, l{1, 2}},
	{"prepend", l{l{1}, 2}, l{2, 1}},
	{"mustPrepend", l{nil, 2}, l{2}},
	{"concat", l{l{1}, nil, l{2}}, l{1, 2}},
	{"concat", l{}, l{}},
	{"chunk", l{2, l{1, 2, 3}}, l{l{1, 2}, l{3}}},
	{"chunk", l{1 << 62, l{1}}, l{l{1}}},
	{"mustChunk", l{3, nil}, l{}},
	{"reverse", l{l{1, 2}}, l{2, 1}},
	{"reverse", l{nil}, l{}},
	{"mustReverse", l{l{}}, l{}},
	{"first", l{l{1, 2}}, 1},
	{"first", l{nil}, nil},
	{"mustFirst", l{l{}}, nil},
	{"last", l{l{1, 2}}, 2},
	{"mustLast", l{nil}, nil},
	{"rest", l{l{1, 2}}, l{2}},
	{"rest", l{nil}, l{}},
	{"mustRest", l{l{1}}, l{}},
	{"initial", l{l{1, 2}}, l{1}},
	{"mustInitial", l{nil}, l{}},
	{"has", l{1, l{1.0}}, true},
	{"has", l{"1", l{1}}, false},
	{"has", l{1, nil}, false},
	{"has", l{m{"a": 1}, l{m{"a": 1}}}, true},
	{"mustHas", l{nil, l{nil}}, true},
	{"without", l{l{1, 2, 3}, 1, 3.0}, l{2}},
	{"mustWithout", l{nil, 1}, l{}},
	{"uniq", l{l{"a", "a", 1, 1.0, true, nil, nil, l{1}, l{1}, m{"a": 1}, m{"a": 1.0}}}, l{"a", 1, true, nil, l{1}, m{"a": 1}}},
	{"uniq", l{nil}, l{}},
	{"mustUniq", l{l{2, 2}}, l{2}},
	{"compact", l{l{"", 1, 0, nil, false, l{}}}, l{1}},
	{"compact", l{nil}, l{}},
	{"mustCompact", l{l{"a", ""}}, l{"a"}},
	{"dict", l{"a", 1, "a", 2, "b", nil}, m{"a": 2, "b": nil}},
	{"set", l{m{"a": 1}, "b", 2}, m{"a": 1, "b": 2}},
	{"set", l{nil, "b", 2}, m{"b": 2}},
	{"unset", l{m{"a": 1, "b": 2}, "a"}, m{"b": 2}},
	{"keys", l{m{"c": 1, "a": 2}, m{"b": 1}, nil}, l{"a", "b", "c"}},
	{"values", l{m{"c": 1, "a": 2, "b": 3}}, l{2, 3, 1}},
	{"pluck", l{"a", m{"a": 1}, m{"b": 1}, nil, m{"a": nil}}, l{1, nil}},
	{"pick", l{m{"a": 1, "b": 2}, "a", "x"}, m{"a": 1}},
	{"pick", l{nil, "a"}, m{}},
	{"omit", l{m{"a": 1, "b": 2}, "a"}, m{"b": 2}},
	{"omit", l{nil, "a"}, m{}},
	{"deepCopy", l{m{"a": l{1}}}, m{"a": l{1}}},
	{"mustDeepCopy", l{nil}, nil},
	{"merge", l{m{"a": 1, "e": ""}, m{"a": 2, "b": m{"x": 1}, "e": "f"}, m{"b": m{"y": 2}, "n": nil}},
		m{"a": 1, "b": m{"x": 1, "y": 2}, "e": "f"}},
	{"merge", l{nil, m{"a": 1}}, m{"a": 1}},
	{"mustMerge", l{m{"a": 1}, nil}, m{"a": 1}},
	{"mergeOverwrite", l{m{"a": 1, "b": m{"x": 1}}, m{"a": "", "b": m{"y": 2}, "n": nil}},
		m{"a": "", "b": m{"x": 1, "y": 2}, "n": nil}},
	{"mustMergeOverwrite", l{m{"a": m{}}, m{"a": 3}}, m{"a": 3}},
	{"len", l{nil}, 0},
	{"len", l{"é"}, 2},
	{"len", l{l{1, 2}}, 2},
	{"len", l{m{"a": 1}}, 1},
	{"index", l{l{1, 2}, 1}, 2},
	{"index", l{l{1, 2}, 2}, nil},
	{"index", l{m{"a": l{m{"b": 7}}}, "a", 0, "b"}, 7},
	{"index", l{m{}, "a", 0, "b"}, nil},
	{"index", l{nil, "a"}, nil},
	{"index", l{3}, 3},
	{"get", l{m{"a": 1}, "a"}, 1},
	{"get", l{nil, "a"}, nil},
	{"hasKey", l{m{"a": nil}, "a"}, true},
	{"hasKey", l{nil, "a"}, false},
	{"dig", l{"a", "b", 5, m{"a": m{"b": 1}}}, 1},
	{"dig", l{"a", "b", 5, m{"a": nil}}, 5},
	{"dig", l{"a", "b", 5, m{"a": m{"b": nil}}}, 5},
	{"dig", l{"a", 5, nil}, 5},
}

// TestAppendShares: lists that begin alike are no less lists of their own.
func TestAppendShares(t *testing.T) {
	push := func(list any, item any) any { return must("append", list, item) }
	a := push(push(l{}, "a"), "b")
	b, c := push(a, "c"), push(a, "d")
	d, e := push(b, "e"), push(push(b, "f"), "g")
	first := push(must("initial", b), "h")
	for want, got := range map[string]any{`["a","b"]`: a, `["a","b","c"]`: b, `["a","b","d"]`: c, `["a","b","c","e"]`: d,
		`["a","b","c","f","g"]`: e, `["a","b","h"]`: first} {
		if text := must("toJson", got); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
