package httphop_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
)

// raw sends bytes to the hop and returns the response.
func (d *testHop) raw(t *testing.T, request string) (status int, body string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", d.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // a test's connection
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestMalformedChunks checks that a body that violates HTTP is the client's error, and that core
// executes no part of it.
func TestMalformedChunks(t *testing.T) {
	t.Parallel()
	for kind, fields := range map[string]string{
		"clear": "Content-Type: application/json\r\n", "encrypted": "Content-Type: application/jose\r\nX-SVC-MLE: v1\r\n",
	} {
		for name, chunks := range map[string]string{
			"no length at first":   "ZZ\r\nhello\r\n0\r\n\r\n",
			"no length later":      "5\r\nhello\r\nZZ\r\n",
			"longer than its size": "3\r\nhello\r\n0\r\n\r\n",
			"a huge length":        "FFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				d := open(t, form{remote: true}, nil)
				status, body := d.raw(t, "POST /v1/transactions HTTP/1.1\r\nHost: x\r\nAuthorization: "+bearer+"\r\n"+fields+
					"Transfer-Encoding: chunked\r\n\r\n"+chunks)
				if status != http.StatusBadRequest || !strings.Contains(body, "body_not_received") {
					t.Errorf("got %d %s, want 400 body_not_received", status, body)
				}
				if got := d.core.got(); len(got) != 0 {
					t.Errorf("core got %+v, want nothing whole", got)
				}
			})
		}
	}
}

// TestHangUpIsNoError checks that a client that hangs up, or sends an invalid body, causes no error
// in the log.
func TestHangUpIsNoError(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	d := open(t, form{remote: true}, func(cfg *httphop.Config, _ *engine.Config) {
		identify := cfg.Identify
		cfg.Identify = func(ctx context.Context, h http.Header) (string, *engine.Problem) {
			if h.Get("X-Wait") == "" {
				return identify(ctx, h)
			}
			begun <- struct{}{}
			<-ctx.Done()
			return "", &engine.Problem{Status: 503, Code: "overloaded", Cause: ctx.Err()}
		}
	})
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+"/v1/transactions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {bearer}, "X-Wait": {"1"}, "X-Svc-Mle-Response": {"required"}}
	go func() {
		<-begun
		hangUp()
	}()
	if response, err := d.Client().Do(r); err == nil { //nolint:bodyclose // there is no response
		t.Errorf("got %d, want the connection closed", response.StatusCode)
	}
	d.raw(t, "POST /v1/transactions HTTP/1.1\r\nHost: x\r\nAuthorization: "+bearer+"\r\n"+
		"Content-Type: application/jose\r\nX-SVC-MLE: v1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n")
	d.Close() // waits for the handlers
	if log := d.log.String(); strings.Contains(log, `"ERROR"`) || strings.Count(log, `"msg":"request"`) != 2 {
		t.Errorf("got the log %s, want two requests and no error", log)
	}
}
