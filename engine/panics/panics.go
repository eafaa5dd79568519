// Package panics makes errors of panics: what one folder or one resource brings
// about must not end the process that serves all others.
//
// Without it, users lose all other kinds, when one folder panics.
package panics

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
)

// A Panic is the error of code that panicked. It is a mistake in this program.
type Panic struct {
	// Doing is what was being done, and to what; Cause what the panic said.
	Doing, Cause string
	// Stack is where it was. It is for the log.
	Stack string
}

// Error says what was being done; the log has the stack.
func (p *Panic) Error() string {
	return fmt.Sprintf("%s: panic: %s (a mistake in this program: please report it)", p.Doing, p.Cause)
}

// Catch makes an error of a panic. It is to be deferred itself; doing is what was
// being done, and to what.
func Catch(err *error, doing string) {
	if value := recover(); value != nil {
		*err = &Panic{Doing: doing, Cause: describeCause(value), Stack: string(debug.Stack())}
	}
}

// In is the panic that an error is, or is around; nil if there is none.
func In(err error) *Panic {
	var p *Panic
	errors.As(err, &p)
	return p
}

// describeCause returns what a panic says, unless that may hold a value of a resource.
func describeCause(value any) string {
	switch value := value.(type) {
	case runtime.Error:
		return value.Error()
	case *reflect.ValueError:
		return value.Error()
	case *Panic:
		return value.Cause
	}
	return fmt.Sprintf("a %T", value)
}
