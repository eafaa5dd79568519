package lsp

import "encoding/json"

// The parts of the Language Server Protocol 3.17 that are used, under its names.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"` // in UTF-16 code units
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type initializeParams struct {
	RootURI          string         `json:"rootUri"`
	WorkspaceFolders []textDocument `json:"workspaceFolders"`
	Capabilities     struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
			WorkspaceEdit struct {
				ResourceOperations []string `json:"resourceOperations"`
			} `json:"workspaceEdit"`
		} `json:"workspace"`
	} `json:"capabilities"`
	InitializationOptions struct {
		// DiagnosticsOnly: the workspace is not trusted.
		DiagnosticsOnly bool `json:"diagnosticsOnly"`
	} `json:"initializationOptions"`
}

type changeParams struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *span  `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
	NewName      string       `json:"newName"`
	Range        span         `json:"range"`
	Context      struct {
		IncludeDeclaration bool         `json:"includeDeclaration"`
		Diagnostics        []diagnostic `json:"diagnostics"`
	} `json:"context"`
}

type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

type commandParams struct {
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

type diagnostic struct {
	Range    span     `json:"range"`
	Severity int      `json:"severity"`
	Code     string   `json:"code"`
	Source   string   `json:"source"`
	Message  string   `json:"message"`
	Related  []nearby `json:"relatedInformation,omitempty"`
}

type nearby struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes,omitempty"`
	// DocumentChanges are a fileCreation and a documentEdit, in place of Changes.
	DocumentChanges []any `json:"documentChanges,omitempty"`
}

type fileCreation struct {
	Kind    string          `json:"kind"` // create
	URI     string          `json:"uri"`
	Options map[string]bool `json:"options"`
}

type documentEdit struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	SortText      string    `json:"sortText,omitempty"`
	FilterText    string    `json:"filterText,omitempty"`
	TextEdit      *textEdit `json:"textEdit,omitempty"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics,omitempty"`
	Edit        workspaceEdit `json:"edit"`
}

// Kinds of completions, as the protocol numbers them.
const (
	itemFunction = 3
	itemField    = 5
	itemVariable = 6
	itemModule   = 9
	itemProperty = 10
	itemValue    = 12
	itemKeyword  = 14
	itemFile     = 17
	itemClass    = 7
)

// errRefused is the code of a request that cannot be carried out as it is.
const errRefused = -32803

// markdownOf returns a text as Markdown of the protocol.
func markdownOf(text string) markup { return markup{"markdown", text} }
