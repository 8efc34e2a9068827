package keyapi

import (
	"maps"
	"slices"
)

// Codes lists the codes of the errors.
func Codes() []string { return slices.Collect(maps.Keys(codes)) }
