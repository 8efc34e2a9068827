package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// TestCloseUnread checks that the connection closes after a request with a body, of known length or
// not. After a request without a body it stays open. In HTTP/2 the stream ends instead.
func TestCloseUnread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		length int64
		major  int
		set    string
		want   bool
	}{
		"Body":          {length: 3, major: 1, want: true},
		"UnknownLength": {length: -1, major: 1, want: true},
		"NoBody":        {length: 0, major: 1},
		"HTTP2":         {length: 3, major: 2},
		"AlreadySet":    {length: 3, major: 1, set: "close"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("abc"))
		r.ContentLength, r.ProtoMajor = c.length, c.major
		if c.set != "" {
			w.Header().Set("Connection", c.set)
		}
		got, field := httpx.CloseUnread(w, r), w.Header().Get("Connection")
		if got != c.want || (field == "close") != (c.want || c.set != "") {
			t.Errorf("%s: got %t and the field %q, want %t", name, got, field, c.want)
		}
	}
}
