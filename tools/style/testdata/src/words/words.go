package words

type store struct{ objects map[string]string }

func main() {}

func init() {}

func run() { take("") }

func parse(string) {}

func setShare(string) {}

func take(string) {} // want `^take is named by one word; name it by a verb and a noun`

func get(string) {} // want `^get is named by one word`

func sha256(string) {} // want `^sha256 is named by one word`

// Take is exported: its package is its noun.
func Take() {}

func (s *store) get(name string) string { return s.objects[name] }

func (s store) Len() int { return len(s.objects) }

func (s store) len() int { return len(s.objects) }

func (s *store) take(name string) {} // want `^store.take is named by one word`

type list[T any] struct{ items []T }

func (l *list[T]) told() {} // want `^list.told is named by one word`

func (l *list[T]) addItem(T) {}

// Functions in a function have no name of their own.
var _ = func() { take := func() {}; take() }
