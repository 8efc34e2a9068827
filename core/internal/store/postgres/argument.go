package postgres

import (
	"fmt"
	"reflect"
)

// arguments returns the arguments of a statement in the types that columns have.
func arguments(args []any) ([]any, error) {
	values := make([]any, len(args))
	for i, a := range args {
		var err error
		if values[i], err = argument(a); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return values, nil
}

func argument(a any) (any, error) {
	switch v := a.(type) {
	case nil, int64, string, []byte:
		return a, nil
	case int:
		return int64(v), nil
	case bool:
		return int64(small(v)), nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return int64(v.Uint()), nil //nolint:gosec // at most 32 bits
	default:
		return nil, fmt.Errorf("a %T cannot be stored", a)
	}
}
