package compatproxy_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestClientsThatHangUp: a request whose client has hung up is logged with status 499 and no error,
// even while v1 cannot be reached. With a connected client, that is an error.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone bool
		want string
	}{{true, `"status":499`}, {false, `"level":"ERROR","msg":"request"`}} {
		var log bytes.Buffer
		p, err := compatproxy.New(compatproxy.Config{
			DeduplicationSecret: goldentest.Secret(), V1: "http://127.0.0.1:1",
			Log: slog.New(slog.NewJSONHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		if c.gone {
			leave()
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, pathB, strings.NewReader(saleB))
		asB(r)
		p.Handler().ServeHTTP(httptest.NewRecorder(), r)
		leave()
		if got := log.String(); !strings.Contains(got, c.want) || strings.Contains(got, `"level":"ERROR"`) == c.gone {
			t.Errorf("gone %t: got %s, want %s", c.gone, got, c.want)
		}
	}
}
