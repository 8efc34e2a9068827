package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

var durationType = reflect.TypeFor[time.Duration]()

// refuseDurations looks for what is to be a duration and is none: the decoder says neither where that is, nor what a duration looks like.
func refuseDurations(name string, file *ast.File, into any) error {
	for _, doc := range file.Docs {
		if err := checkDurations(name, "", doc.Body, reflect.TypeOf(into)); err != nil {
			return err
		}
	}
	return nil
}

// checkDurations follows nodes and types as far as they agree; where they do not, the decoder says so.
func checkDurations(name, key string, node ast.Node, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			key := keyText(pair.Key.GetToken())
			if err := checkDurations(name, key, pair.Value, within(t, key)); err != nil {
				return err
			}
		}
	case *ast.SequenceNode:
		for _, item := range n.Values {
			if err := checkDurations(name, key, item, within(t, "")); err != nil {
				return err
			}
		}
	case ast.ScalarNode:
		if t == durationType && !isDuration(n) {
			return fmt.Errorf("%s:%d: %s: a duration is a number with a unit of h, m, s or ms, as 90s or 24h", name, n.GetToken().Position.Line, key)
		}
	}
	return nil
}

// isDuration reports false for what certainly is none: an alias is what it stands for, which the decoder knows.
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

// within is the type of what a struct has under a key, or of an element; nil where there is none.
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
