package edge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// testDialects compares Envoy's own responses to legacy clients with compat-proxy's. It also sends
// requests as WordPress and the SDKs do: HTTP/1.0, and the host names of the providers.
func testDialects(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, nil)
	for _, tt := range []struct{ path, contentType, start string }{
		{"/xml/v1/request.api", "text/xml", "<"},
		{"/xml/v1/request.api", "application/json", "{"},
		{"/compat/provider-a/xml", "application/xml", "<"},
		{"/pts/v2/payments", "application/json;charset=utf-8", "{"},
		{"/compat/provider-b/pts/v2/payments", "application/json", "{"},
	} {
		body := tt.start + strings.Repeat(" ", 256<<10)
		want := send(t, http.DefaultClient, http.MethodPost, r.url(portCompat)+tt.path, body, "Content-Type", tt.contentType)
		got := send(t, client, http.MethodPost, "https://"+host+tt.path, body, "Content-Type", tt.contentType)
		if got.status != want.status || strings.TrimSpace(got.body) != want.body ||
			got.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("%s, %s: got %d %v %s, want %d %v %s", tt.path, tt.contentType, got.status, got.header, got.body,
				want.status, want.header, want.body)
		}
	}
	const alive = `<?xml version="1.0"?><isAliveRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"/>`
	for _, tt := range []struct {
		version, host, path, body string
		status                    int
		want                      string
	}{
		{"1.0", host, "/xml/v1/request.api", alive, 200, "I00001"},
		{"1.0", "api2.authorize.net", "/xml/v1/request.api", alive, 200, "I00001"},
		{"1.1", "apitest.authorize.net", "/xml/v1/request.api", alive, 200, "I00001"},
		{"1.1", "apitest.cybersource.com", "/pts/v2/payments", "{}", 401, "Authentication Failed"},
		{"1.1", "apitest.cybersource.com:443", "/unifiedrisk", "{}", 401, "Authentication Failed"},
		{"1.1", "apitest.cybersource.com", "/v1/transactions", "{}", 421, "misdirected_request"},
	} {
		got := r.raw(t, fmt.Sprintf("POST %s HTTP/%s\r\nHost: %s\r\nConnection: close\r\nContent-Type: text/xml\r\n"+
			"Content-Length: %d\r\n\r\n%s", tt.path, tt.version, tt.host, len(tt.body), tt.body))
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("HTTP/%s %s %s: got %d %s", tt.version, tt.host, tt.path, got.status, got.body)
		}
	}
}
