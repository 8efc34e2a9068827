// Package panics turns panics into errors.
package panics

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Error is the error of a panic. It has the Go type of the panic's value and the functions on the
// stack, because values and arguments may contain card data.
type Error struct {
	Type  string
	Stack []string // "function:line", innermost first
}

// Error returns the type and the stack.
func (e *Error) Error() string { return "panic: " + e.Type + ": " + strings.Join(e.Stack, " ") }

// Catch calls fn and returns its error. If fn panics, the error is an *Error.
func Catch(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{fmt.Sprintf("%T", v), Stack(2)}
		}
	}()
	return fn()
}

// Stack lists the functions on the stack of its caller, without the innermost skip ones.
func Stack(skip int) []string {
	pcs := make([]uintptr, 48)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2+skip, pcs)])
	var lines []string
	for {
		f, more := frames.Next()
		if f.Function != "" {
			lines = append(lines, f.Function+":"+strconv.Itoa(f.Line))
		}
		if !more {
			return lines
		}
	}
}
