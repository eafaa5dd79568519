package health

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

const (
	// costLimit bounds one evaluation, in CEL's units of cost: some milliseconds.
	costLimit = 100_000
	// longestExpression is the length of an expression, in bytes.
	longestExpression = 8 << 10
)

// objectFields are the variables that every expression may use. Those that are maps
// are empty, not absent, where the object does not have them.
var (
	objectFields = []string{"apiVersion", "kind", "metadata", "spec", "status", "data"}
	objectMaps   = []string{"metadata", "spec", "status", "data"}
)

// An expression is a compiled CEL expression over the top-level fields of an object.
type expression struct {
	program cel.Program
	reads   []Read
	// emptyAlls are the offsets of calls of all that are true for an empty list.
	emptyAlls []int
}

// An expressionError is why an expression does not compile, and where.
type expressionError struct {
	offset int
	text   string
}

func (e *expressionError) Error() string { return e.text }

// baseEnv is Flux's environment, with the variables that every object has.
var baseEnv = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders(),
		cel.EnableMacroCallTracking(), // for reads and emptyAlls
	}
	for _, name := range objectFields {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
})

// compileExpression compiles a text whose result must be of a type, or may be.
func compileExpression(text string, result *cel.Type) (*expression, *expressionError) {
	env, err := baseEnv()
	if err != nil {
		return nil, &expressionError{text: err.Error()}
	}
	if len(text) > longestExpression {
		return nil, &expressionError{text: fmt.Sprintf("the expression is longer than %d bytes", longestExpression)}
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, firstIssue(text, issues)
	}
	reads := collectReads(env, parsed)
	if reads.wrong != nil {
		return nil, reads.wrong
	}
	for name := range reads.others {
		if env, err = env.Extend(cel.Variable(name, cel.DynType)); err != nil {
			return nil, &expressionError{text: err.Error()}
		}
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, firstIssue(text, issues)
	}
	if got := checked.OutputType(); !got.IsExactType(result) && !got.IsExactType(cel.DynType) {
		return nil, &expressionError{text: fmt.Sprintf("the expression is a %s, not a %s", got, result)}
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(costLimit), cel.CostTracking(resultCost{}))
	if err != nil {
		return nil, &expressionError{text: err.Error()}
	}
	return &expression{program: program, reads: reads.from, emptyAlls: reads.emptyAlls()}, nil
}

// firstIssue is the first thing that CEL finds wrong with a text.
func firstIssue(text string, issues *cel.Issues) *expressionError {
	first := issues.Errors()[0]
	offset := 0
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < first.Location.Line()-1 && i < len(lines); i++ {
		offset += utf8.RuneCountInString(lines[i])
	}
	return &expressionError{offset: offset + max(first.Location.Column(), 0), text: describeIssue(first.Message)}
}

// undeclared matches CEL's message about a name that is neither a variable nor a
// function.
var undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)

// describeIssue returns what to do about an issue of CEL, without what only the parser
// understands.
func describeIssue(message string) string {
	message, _, _ = strings.Cut(message, " expecting ")
	if name := undeclared.FindStringSubmatch(message); name != nil {
		return fmt.Sprintf("there is no function %s%s", name[1], suggestFunction(name[1]))
	}
	if strings.Contains(message, "argument to has() macro") {
		return "has needs a field of a map, such as has(status.conditions)"
	}
	return message
}

// suggestFunction returns which function a misspelt name means, or "".
func suggestFunction(name string) string {
	env, err := baseEnv()
	if err != nil {
		return ""
	}
	if near := schema.Suggest(name, slices.Sorted(maps.Keys(env.Functions()))); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// evaluateFor returns the value of the expression for an object.
func (e *expression) evaluateFor(vars map[string]any) (ref.Val, error) {
	value, _, err := e.program.Eval(vars)
	return value, err
}

// isTrue reports whether the expression is true for an object.
func (e *expression) isTrue(vars map[string]any) (bool, error) {
	if e == nil {
		return false, nil
	}
	value, err := e.evaluateFor(vars)
	if err != nil {
		return false, err
	}
	result, is := value.(types.Bool)
	if !is {
		return false, fmt.Errorf("it is a %s, not a bool", value.Type().TypeName())
	}
	return bool(result), nil
}

// resultCost adds the size of every text that a function returns to the cost, since
// functions may multiply the size of a text.
type resultCost struct{}

// CallCost returns the cost of a call; nil where CEL knows better.
func (resultCost) CallCost(_, _ string, _ []ref.Val, result ref.Val) *uint64 {
	text, is := result.(types.String)
	if !is || len(text) < 10 {
		return nil
	}
	cost := uint64(len(text)) / 10
	return &cost
}
