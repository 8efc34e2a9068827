package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

var durationType = reflect.TypeFor[time.Duration]()

// refuseScalars rejects an invalid duration, because the decoder's error names neither its line nor
// the form of a duration. It also rejects a fraction for a whole number. The decoder would truncate
// it: half a request a second would become 0, which means no limit.
func refuseScalars(name string, file *ast.File, into any) error {
	for _, doc := range file.Docs {
		if err := checkScalars(name, "", doc.Body, reflect.TypeOf(into)); err != nil {
			return err
		}
	}
	return nil
}

// checkScalars follows nodes and types while they agree. The decoder reports where they do not.
func checkScalars(name, key string, node ast.Node, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			key := keyText(pair.Key.GetToken())
			if err := checkScalars(name, key, pair.Value, within(t, key)); err != nil {
				return err
			}
		}
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if err := checkScalars(name, key, item, within(t, "")); err != nil {
				return err
			}
		}
	case ast.ScalarNode:
		if n.Type() == ast.FloatType && isWhole(t) {
			return fmt.Errorf("%s:%d: %s: want a whole number", name, n.GetToken().Position.Line, key)
		}
		if t == durationType && !isDuration(n) {
			return fmt.Errorf("%s:%d: %s: want a duration with a unit of h, m, s or ms, such as 90s or 24h", name,
				n.GetToken().Position.Line, key)
		}
	}
	return nil
}

// isWhole reports whether a type holds whole numbers that are not durations.
func isWhole(t reflect.Type) bool {
	if t == nil || t == durationType {
		return false
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	default:
		return false
	}
}

// isDuration reports false for a node that is certainly not a duration. An alias passes: only the
// decoder resolves it.
func isDuration(n ast.ScalarNode) bool {
	switch n.Type() {
	case ast.StringType:
		_, err := time.ParseDuration(n.GetToken().Value)
		return err == nil
	case ast.IntegerType, ast.FloatType, ast.BoolType:
		return false
	default:
		return true
	}
}

// within returns the type of a struct's field under a key, or of an element; nil if there is none.
func within(t reflect.Type, key string) reflect.Type {
	switch {
	case t == nil:
		return nil
	case t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return t.Elem()
	case t.Kind() != reflect.Struct:
		return nil
	}
	for field := range t.Fields() {
		if tag, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); tag == key && key != "" {
			return field.Type
		}
	}
	return nil
}
