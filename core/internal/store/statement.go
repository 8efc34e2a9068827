package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Statement names a statement of the store. Each engine has its own SQL for it.
type Statement struct{ name string }

// String returns the name by which an engine's SQL is found.
func (s *Statement) String() string { return s.name }

// declared holds all statements by name.
var declared = map[string]*Statement{}

// declare returns a new statement. It panics if the name is declared already.
func declare(name string) *Statement {
	if declared[name] != nil {
		panic("store: the statement " + name + " is declared twice")
	}
	declared[name] = &Statement{name}
	return declared[name]
}

// pages are the two statements of a list. Their last two parameters are the id of a row and the
// number of rows to return.
type pages struct {
	after  *Statement // the rows with lower ids, highest first
	before *Statement // the rows with higher ids, lowest first
}

// declareList declares the statements of a list: one of its name, and one that ends in Before.
func declareList(name string) pages { return pages{declare(name), declare(name + "Before")} }

// Compile returns the SQL of an engine by statement. Each part has SQL by the name of the
// statement. An empty text is for a statement that the engine cannot run. It returns an error
// unless the parts have each statement of the store once, and no other.
func Compile(parts ...map[string]string) (map[*Statement]string, error) {
	var errs []error
	out := make(map[*Statement]string, len(declared))
	for _, part := range parts {
		for name, text := range part {
			s := declared[name]
			if s == nil {
				errs = append(errs, fmt.Errorf("the statement %s is not declared", name))
				continue
			}
			if _, twice := out[s]; twice {
				errs = append(errs, fmt.Errorf("the statement %s has two texts", name))
			}
			out[s] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if _, ok := out[declared[name]]; !ok {
			errs = append(errs, fmt.Errorf("the statement %s has no text", name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return out, nil
}
