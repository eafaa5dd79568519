package funcs

// A caller calls a function with arguments that have the types of its
// parameters, nil for the zero value; their number is right.
type caller func(args []any, lim Limits) (any, error)

// directCaller calls the signatures that templates use most without reflection,
// which costs more than most of these functions; nil for any other signature.
func directCaller(fn any) caller {
	switch f := fn.(type) {
	case func(any) bool:
		return func(args []any, _ Limits) (any, error) { return f(args[0]), nil }
	case func(any, []any) bool:
		return func(args []any, _ Limits) (any, error) { return f(args[0], castTo[[]any](args[1])), nil }
	case func(string, any) bool:
		return func(args []any, _ Limits) (any, error) { return f(castTo[string](args[0]), args[1]), nil }
	case func(map[string]any, string) any:
		return func(args []any, _ Limits) (any, error) {
			return f(castTo[map[string]any](args[0]), castTo[string](args[1])), nil
		}
	case func(Limits, map[string]any, string, any) (map[string]any, error):
		return func(args []any, lim Limits) (any, error) {
			return f(lim, castTo[map[string]any](args[0]), castTo[string](args[1]), args[2])
		}
	case func(Limits, string, ...any) (string, error):
		return func(args []any, lim Limits) (any, error) { return f(lim, castTo[string](args[0]), args[1:]...) }
	case func(Limits, []any, any) ([]any, error):
		return func(args []any, lim Limits) (any, error) { return f(lim, castTo[[]any](args[0]), args[1]) }
	}
	return nil
}

// castTo is a value of type T, or its zero value for nil.
func castTo[T any](v any) T {
	t, _ := v.(T)
	return t
}
