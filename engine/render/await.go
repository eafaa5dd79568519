package render

import "fmt"

// What is said of a child that a file awaits.
const (
	NotThere   = "is not there yet"
	NotApplied = "has a change that is not applied yet"
)

// Awaits returns what a file that awaits another one waits for; "" if nothing.
// rendered is what the awaited file renders now, and unready returns why a child is not
// ready, or "".
func Awaits(rendered []Child, unready func(Child) (string, error)) (string, error) {
	first, more, children := "", 0, 0
	for _, c := range rendered {
		if c.Policy.Patch {
			continue
		}
		children++
		why, err := unready(c)
		switch {
		case err != nil:
			return "", err
		case why == "":
		case first == "":
			first = fmt.Sprintf("%s %s %s", c.Object.GetKind(), c.Object.GetName(), why)
		default:
			more++
		}
	}
	switch {
	case children == 0:
		return "it renders no object for this resource", nil
	case more > 0:
		return fmt.Sprintf("%s; and %d more", first, more), nil
	}
	return first, nil
}
