package v1_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestEveryResponseDeclaresItsHeaders: a client cannot rely on an undeclared header, and coretest
// rejects it.
func TestEveryResponseDeclaresItsHeaders(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, route := range httpx.PageRoutes() {
		pages[route.Method+" "+route.Path] = true
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			open := op.Security != nil && len(*op.Security) == 0
			for status, response := range op.Responses.Map() {
				refusal := status == "default" || status == "4XX"
				want := map[string]bool{"Request-Id": true, "RateLimit": !open || refusal, "RateLimit-Policy": !open || refusal}
				if refusal {
					want["Retry-After"], want["Allow"], want["WWW-Authenticate"] = true, true, true
				}
				if strings.HasPrefix(path, "/v1/mle/") && !refusal {
					want["RateLimit"], want["RateLimit-Policy"] = false, false // they are served in front of what counts requests
				}
				want["Idempotent-Replayed"] = refusal ||
					op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
				page := refusal || pages[method+" "+path]
				want["Access-Control-Allow-Origin"], want["Access-Control-Expose-Headers"] = page, page
				for name, there := range want {
					if _, got := response.Value.Headers[name]; got != there {
						t.Errorf("%s %s %s declares %s: got %t, want %t", method, path, status, name, got, there)
					}
				}
			}
		}
	}
}
