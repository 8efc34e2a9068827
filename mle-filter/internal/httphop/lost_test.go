package httphop_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
)

const (
	created    = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"id\":\"txn_1\"}"
	overloaded = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n" +
		`{"error":{"code":"overloaded"}}`
)

// dyingCore is a core that keeps its connections. It executes the first POST and closes the
// connection without a response. It then sends next to each further POST, or is gone if next is "".
type dyingCore struct {
	next   string
	posts  atomic.Int32 // the requests that it executed
	listen net.Listener
}

// behind returns a hop in front of the core. The hop holds an open connection to it.
func (c *dyingCore) behind(t *testing.T) *testHop {
	t.Helper()
	var err error
	if c.listen, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.listen.Close() })
	go func() {
		for {
			conn, err := c.listen.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	transport := httphop.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	d := open(t, form{}, func(cfg *httphop.Config, _ *engine.Config) {
		cfg.Core, cfg.Transport = nil, transport
		cfg.Upstream = &url.URL{Scheme: "http", Host: c.listen.Addr().String()}
	})
	if g := d.send(t, "GET", "/v1/transactions", nil, nil); g.status != http.StatusCreated {
		t.Fatalf("got %d %s, want a response over the first connection", g.status, g.body)
	}
	return d
}

func (c *dyingCore) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // nothing depends on it
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		response := created
		if r.Method == http.MethodPost {
			if c.posts.Add(1) == 1 {
				c.die()
				return
			}
			response = c.next
		}
		if _, err := io.WriteString(conn, response); err != nil {
			return
		}
	}
}

// die closes the listener, unless another core must accept the further requests.
func (c *dyingCore) die() {
	if c.next == "" {
		_ = c.listen.Close()
	}
}

// TestLostOverAKeptConnection has core execute a request on a kept connection and die. The client
// must get the error for a lost response, whether core is then gone or overloaded.
func TestLostOverAKeptConnection(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"core is gone": "", "core is overloaded": overloaded} {
		for kind, encrypted := range map[string]bool{"encrypted": true, "no body": false} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				c := &dyingCore{next: next}
				d := c.behind(t)
				path, fields, body := "/v1/transactions/txn_1/captures", map[string]string{"Idempotency-Key": "k"}, io.Reader(nil)
				if encrypted {
					path, fields, body = "/v1/transactions", encryptedFields("Idempotency-Key", "k"), d.encrypt(t, engine.ECDHESA256KW)
				}
				wantCode(t, d.send(t, "POST", path, body, fields), 502, "response_lost")
				if c.posts.Load() < 1 {
					t.Error("core got no request")
				}
			})
		}
	}
}

// TestSentOnce checks that net/http does not repeat an encrypted request, or one with
// X-Idempotency-Key, which core does not read.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		encrypted bool
		key       string
	}{
		"encrypted":                    {true, "Idempotency-Key"},
		"encrypted, with another key":  {true, "X-Idempotency-Key"},
		"without a body, another key":  {false, "X-Idempotency-Key"},
		"without a body, in lowercase": {false, "x-idempotency-key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &dyingCore{next: created}
			d := c.behind(t)
			path, fields, body := "/v1/transactions/txn_1/captures", map[string]string{tt.key: "k"}, io.Reader(nil)
			if tt.encrypted {
				path, fields, body = "/v1/transactions", encryptedFields(tt.key, "k"), d.encrypt(t, engine.ECDHESA256KW)
			}
			wantCode(t, d.send(t, "POST", path, body, fields), 502, "response_lost")
			if got := c.posts.Load(); got != 1 {
				t.Errorf("core executed %d requests, want 1", got)
			}
		})
	}
}
