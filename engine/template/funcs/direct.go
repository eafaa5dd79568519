package funcs

// A caller calls a function with arguments that have the types of its
// parameters, nil for the zero value; their number is right.
type caller func(args []any, lim Limits) (any, error)

// direct calls the signatures that templates use most without reflection,
// which costs more than most of these functions; nil for any other signature.
func direct(fn any) caller {
	switch f := fn.(type) {
	case func(any) bool:
		return func(args []any, _ Limits) (any, error) { return f(args[0]), nil }
	case func(any, []any) bool:
		return func(args []any, _ Limits) (any, error) { return f(args[0], as[[]any](args[1])), nil }
	case func(string, any) bool:
		return func(args []any, _ Limits) (any, error) { return f(as[string](args[0]), args[1]), nil }
	case func(map[string]any, string) any:
		return func(args []any, _ Limits) (any, error) {
			return f(as[map[string]any](args[0]), as[string](args[1])), nil
		}
	case func(Limits, map[string]any, string, any) (map[string]any, error):
		return func(args []any, lim Limits) (any, error) {
			return f(lim, as[map[string]any](args[0]), as[string](args[1]), args[2])
		}
	case func(Limits, string, ...any) (string, error):
		return func(args []any, lim Limits) (any, error) { return f(lim, as[string](args[0]), args[1:]...) }
	case func(Limits, []any, any) ([]any, error):
		return func(args []any, lim Limits) (any, error) { return f(lim, as[[]any](args[0]), args[1]) }
	}
	return nil
}

// as is a value of type T, or its zero value for nil.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}
