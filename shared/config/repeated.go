package config

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// refuseRepeated rejects a key that occurs twice in a mapping. The decoder would reject it too, but
// with a syntax error that differs from others only by its text.
func refuseRepeated(name string, file *ast.File) error {
	for _, doc := range file.Docs {
		v := &repeatedKey{}
		ast.Walk(v, doc)
		if v.found == nil {
			continue
		}
		t := v.found.GetToken()
		return fmt.Errorf("%s:%d: duplicate key %q", name, t.Position.Line, keyText(t))
	}
	return nil
}

// repeatedKey is a visitor that records the first repeated key.
type repeatedKey struct{ found ast.Node }

// Visit is for ast.Walk.
func (v *repeatedKey) Visit(node ast.Node) ast.Visitor {
	if v.found != nil {
		return nil
	}
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return v
	}
	seen := make(map[string]bool, len(mapping.Values))
	for _, pair := range mapping.Values {
		key := keyText(pair.Key.GetToken())
		if seen[key] {
			v.found = pair.Key
			return nil
		}
		seen[key] = true
	}
	return v
}
