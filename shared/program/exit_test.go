package program_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestUnsolicitedResponse checks that a program does not log bytes of a response. Go's HTTP client
// logs the bytes that arrive on an idle connection by the standard logger. It is not parallel,
// because that logger belongs to the process.
func TestUnsolicitedResponse(t *testing.T) { //nolint:paralleltest // see above
	const planted = "4111111111111111"
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go respondTwice(listener, planted)
	var stderr programtest.Log
	program.Main("test", &stderr, func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), http.NoBody)
		if err != nil {
			return err
		}
		response, err := new(http.Transport).RoundTrip(r)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
	programtest.WaitWithin(t, 10*time.Second, "a log line", func() bool {
		return strings.Contains(stderr.String(), `"kind":"unsolicited_response"`)
	})
	if strings.Contains(stderr.String(), planted) {
		t.Errorf("log: %s", stderr.String())
	}
}

// respondTwice writes two responses to the first request.
func respondTwice(listener net.Listener, text string) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
		_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 " + text + "\r\n\r\n"))
	}
}
