package shell

import (
	"cmp"
	"net/http"
	"strings"
)

// Template returns the path of Route, for spans.
func Template(path string) string {
	_, template, _ := strings.Cut(Route(http.MethodGet, path), " ")
	return cmp.Or(template, "/")
}

// Route returns the route of a v1 path for logs and metrics, with {id} for each variable part, or
// "" for another path.
func Route(method, path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if segments[0] != "v1" || len(segments) < 2 || len(segments) > 5 || !nouns[segments[1]] {
		return ""
	}
	for i, s := range segments[2:] {
		if !nouns[s] {
			segments[i+2] = "{id}"
		}
	}
	return cmp.Or(methods[method], "OTHER") + " /" + strings.Join(segments, "/")
}

var methods = map[string]string{
	"GET": "GET", "HEAD": "HEAD", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE", "OPTIONS": "OPTIONS",
}

// nouns are the fixed words in v1 paths. A test compares them with the contract.
var nouns = map[string]bool{
	"transactions": true, "confirm": true, "void": true, "captures": true, "refunds": true, "tokens": true,
	"customers":       true,
	"payment_methods": true, "shipping_addresses": true,
	"api_keys": true, "roll": true, "current": true, "idempotency_keys": true, "events": true,
	"redeliver":         true,
	"webhook_endpoints": true, "roll_secret": true, "deliveries": true, "test_helpers": true, "settle": true,
	"expire":          true,
	"settlement_runs": true, "settlement_days": true, "clock": true, "advance": true, "health": true,
	"openapi.json": true, "mle": true,
	"keys":          true,
	"requirements":  true,
	"response_keys": true, "rotate": true, "prove": true,
	"js": true, "causeway-1.js": true,
	"challenge": true, "trust": true, "fingerprints": true, "calendar.ics": true,
}
