package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// YAML returns a message in the form of Envoy's configuration files, with sorted keys: equal
// messages give equal bytes.
func YAML(m proto.Message) ([]byte, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text)) // protojson varies its spaces on purpose
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	out, err := yaml.MarshalWithOptions(numbers(tree), yaml.Indent(2), yaml.IndentSequence(false))
	if err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	return out, nil
}

// numbers converts each number to the Go type of its form.
func numbers(tree any) any {
	switch t := tree.(type) {
	case map[string]any:
		for k, v := range t {
			t[k] = numbers(v)
		}
	case []any:
		for i, v := range t {
			t[i] = numbers(v)
		}
	case json.Number:
		if !strings.ContainsAny(t.String(), ".eE") {
			if n, err := t.Int64(); err == nil {
				return n
			}
		}
		f, _ := t.Float64() // valid, because it was JSON
		return f
	}
	return tree
}
