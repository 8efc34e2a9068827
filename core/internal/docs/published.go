package docs

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// forAll are the extensions for all readers: the present values of a response, the bounds of names,
// and names of values.
var forAll = []string{"x-extensible-enum", "x-property-names", "x-enum-varnames"}

// published returns a contract as JSON, without the extensions that only our generator reads.
func published(contract []byte) ([]byte, error) {
	var root any
	if err := yaml.UnmarshalWithOptions(contract, &root, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	return yaml.MarshalWithOptions(withoutOwn(root), yaml.JSON())
}

// withoutOwn returns a value without our extensions. A schema whose allOf has only a reference, and
// which has no other member then, becomes that reference.
func withoutOwn(v any) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		out := yaml.MapSlice{}
		for _, item := range v {
			if key := name(item); !strings.HasPrefix(key, "x-") || slices.Contains(forAll, key) {
				out = append(out, yaml.MapItem{Key: item.Key, Value: withoutOwn(item.Value)})
			}
		}
		if len(out) == 1 && name(out[0]) == "allOf" {
			if only, _ := out[0].Value.([]any); len(only) == 1 {
				return only[0]
			}
		}
		return out
	case []any:
		return each(v, withoutOwn)
	}
	return v
}
