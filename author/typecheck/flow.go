package typecheck

import (
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Class says what sort of mistake a finding is. The names are stable: tools
// rely on them.
type Class string

// The classes of findings that following a template gives.
const (
	UnknownField Class = "unknown-field"   // a field that no schema declares
	ArgumentType Class = "argument-type"   // a value that a function or an operator refuses
	NotAList     Class = "not-a-list"      // range over what has no items
	Nil          Class = "nil"             // a value that may be absent where that is an error
	Falsy        Class = "falsy"           // 0 or false taken for absent
	UnusedVar    Class = "unused-variable" // a variable that nothing reads
	Unreachable  Class = "unreachable"     // a branch or text that no resource reaches
	SecretLeak   Class = "secret-leak"     // a Secret's value on its way out of Secrets
	Syntax       Class = "syntax"          // text that is no YAML on one of the ways
	EndlessWait  Class = "endless-wait"    // an await of a file that can render no object
)

// A Finding is one thing that is wrong at a place of a template.
type Finding struct {
	Class Class
	Place template.Place
	// Length is how many characters there are to underline; 0 if unknown.
	Length int
	// Text says what is wrong, and what to do.
	Text string
	// Called is where the define that holds Place was called from; zero if it
	// is in a file's own text.
	Called template.Place
	// Path is the full path of an unknown field.
	Path string
	// Read is what the path of an unknown field begins at: "" for the resource
	// itself, else what was read, such as "Deployment apps/v1".
	Read string
}

// Error returns file:line:col: what is wrong (called from …).
func (f Finding) Error() string {
	return f.Place.String() + ": " + f.fullText()
}

// fullText returns the text of the finding and where its define was called from.
func (f Finding) fullText() string {
	if f.Called.File == "" {
		return f.Text
	}
	return f.Text + " (called from " + f.Called.String() + ")"
}

// An Input is what is to be followed.
type Input struct {
	Set *template.Set
	// Files are the names of the trees: those of the children's files, and
	// "status" if there is one.
	Files []string
	// Root is the type of the resource.
	Root *schema.Type
	// Name is how messages call the resource, such as "Page v1".
	Name string
	// Own is the kind of the resource.
	Own apischema.GroupKind
	// Live gives the type of objects that are read; nil where it is unknown.
	Live func(apischema.GroupVersionKind) *schema.Type
	// Makes gives the kinds of the children that a file makes.
	Makes func(file string) []apischema.GroupVersionKind
	// Config are the settings, whose values say what types they have.
	Config map[string]any
	// ClusterScoped says that the resource lives in no namespace.
	ClusterScoped bool
	// Quick asks for findings about fields only, without documents.
	Quick bool
	// Seen is given what is found out about the nodes of the files, for editors; it may
	// be nil. A node is seen once for each path, call and turn that comes to it.
	Seen func(Sight)
	// Stop reports whether the Flow is no longer wanted: what was found so far is
	// returned. It may be nil.
	Stop func() bool
}

// A Sight is what a node is found to be on a path.
type Sight struct {
	// File is how errors call the file.
	File string
	Node parse.Node
	// Step is how many of the fields of Node were followed.
	Step int
	// Value gives what is known of it, while Seen runs.
	Value func() *Value
}

// A Flow is what following a folder's templates gave.
type Flow struct {
	// Findings are sorted by place.
	Findings []Finding
	// Paths are the paths through each file that were followed.
	Paths map[string][]*Path
	// Reads are the paths of the resource that templates read, such as
	// "spec.env[].name".
	Reads map[string]Read
	// Peers are such paths of other resources of the same kind; "" is the whole.
	Peers map[string]Read
	// Awaited are the files whose newest child templates read fields of, as await returned
	// it, and where they first do.
	Awaited map[string]template.Place
	// Called are the names of the defines that some file reaches.
	Called map[string]bool
	// Cut are the files of which some paths were not followed to their end, for
	// there are too many or they are too long.
	Cut map[string]bool
	// Heavy is where the file begins at which following the folder was given up,
	// since it takes too much work; else zero.
	Heavy template.Place
	// Never are the sides of branches that no resource takes; there may be more.
	Never map[Outcome]bool
}

// A Outcome is one of the two of an if, with or range.
type Outcome struct {
	// Place is where the condition stands.
	Place template.Place
	// Taken: the condition holds, or there are items.
	Taken bool
}

// A Read is how a path of the resource is read.
type Read struct {
	// Place is the first place that reads it.
	Place template.Place
	// Whole says that the value itself is used, and not just asked whether it
	// is there: printed or passed on, with all that is below it.
	Whole bool
}

// A Path is one path through a file: the branches that it takes give one
// skeleton.
type Path struct {
	File      string
	Documents []*Document
	// Ends is "wait" or "fail" where the path ends early, else "".
	Ends string
}

// A Document is one YAML document that a path makes.
type Document struct {
	Place template.Place
	Root  *Node
}

// A Node is one node of a document. Exactly one of Keys, Items, Value and Text
// says what it is; a map or list without entries of the author has none.
type Node struct {
	Place template.Place
	// Keys are the entries of a map, in order.
	Keys []Entry
	// Items are those of a list. Of a range that the path goes through, one turn
	// is there.
	Items []*Node
	// Value is a whole scalar, literal or printed, or a whole printed value of
	// any type; known to be nil where nothing is written.
	Value *Value
	// Text is a text that holds values: its literal pieces and values in order.
	Text []*Value
	// Beside are values printed as further entries of this map or further items
	// of this list.
	Beside []*Value
}

// An Entry is a key and its value.
type Entry struct {
	Key *Node
	// Name is the key where it is literal, else "".
	Name string
	Node *Node
}

// A Value is what is known of a value.
type Value struct {
	// Type is nil or schema.Any where nothing is known.
	Type *schema.Type
	// Nil says that it may be absent.
	Nil bool
	// Const is the value itself if Known: a literal, or computed of literals.
	Const any
	Known bool
	// Sources are what it is made of.
	Sources []Source
	// Exact says that it is Sources[0] itself, unchanged.
	Exact bool
	// MaxLen is the greatest number of characters that its text has; -1 if
	// unknown or unbounded.
	MaxLen int
}

// A Source is where (a part of) a value comes from.
type Source struct {
	// Read is "" for the resource, else what was read, such as "Secret v1" or
	// "config".
	Read string
	// Path is such as "spec.env[].name"; "" is the whole.
	Path string
	// File is the file of the folder whose child it is, "" if it is none.
	File string
	// Made says that a function made another value of it, such as a sum, a text
	// that holds it, or its hash.
	Made bool
	// Trait says that the value is just whether it is there, how many it has, of which
	// type it is, or whether something is true of it.
	Trait bool
}
