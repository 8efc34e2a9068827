package v1client

import "strings"

// literal are the segments of v1's paths that are not ids.
var literal = map[string]bool{
	"": true, "v1": true, "transactions": true, "captures": true, "refunds": true, "void": true, "confirm": true,
	"api_keys": true, "current": true,
	"tokens": true, "customers": true, "payment_methods": true, "shipping_addresses": true,
	"idempotency_keys": true,
	"settlement_days":  true,
}

// template converts a path of v1 to its route. A segment that is not literal counts as an id.
func template(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if !literal[s] {
			segments[i] = "{id}"
		}
	}
	return strings.Join(segments, "/")
}
