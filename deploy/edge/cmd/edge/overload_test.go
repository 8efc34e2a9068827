package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestReducedTimeouts checks that Envoy ends a response that is not read much sooner when its heap
// is full. So responses that wait for slow clients leave the heap.
func TestReducedTimeouts(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "")
	b.run(t)
	e := b.envoyWith(t, fullHeap)
	e.Listeners(t)
	e.Wait(t, "does not reduce its timeouts", func() bool {
		return strings.Contains(e.Get(t, "/stats"), "overload.envoy.overload_actions.reduce_timeouts.scale_percent: 100\n")
	})
	var conn *tls.Conn
	e.Wait(t, "takes no connection", func() (taken bool) { // a slow handshake may take too long
		var err error
		conn, err = b.handshake(t, func(c *tls.Config) { c.NextProtos = []string{http2.NextProtoTLS} })
		return err == nil
	})
	begun := clock.Monotonic()
	framer := unreadRequest(t, conn)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ended := frame.(*http2.RSTStreamFrame); ended {
			break
		}
	}
	const timeout = 15 * time.Second // without reduction
	if took := clock.Monotonic() - begun; took >= timeout {
		t.Errorf("an unread response ended after %v, want less than %v", took, timeout)
	}
}

// TestStatisticsOfFullHeap checks that Envoy exports its statistics while it refuses all requests
// because its heap is full. Otherwise no alert could report that.
func TestStatisticsOfFullHeap(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "")
	b.run(t) // Envoy starts its listeners when it has its resources
	admin, stats := programtest.MustPort(t), programtest.MustPort(t)
	file := b.bootstrap(t, "envoy-1", "--admin", admin, "--stats", stats)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, heapSize.ReplaceAll(text, []byte(`max_heap_size_bytes: "1"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	e := envoytest.Start(t, file)
	e.Listeners(t)
	const refuses = "envoy_overload_envoy_overload_actions_stop_accepting_requests_active{} 1\n"
	e.Wait(t, "does not refuse requests", func() bool { return strings.Contains(e.Get(t, "/stats/prometheus"), refuses) })
	got := b.send(t, http.DefaultClient, "GET", "http://"+stats+"/stats/prometheus", "")
	if got.status != http.StatusOK || !strings.Contains(got.body, refuses) {
		t.Errorf("the port of statistics responded with %d %.200s", got.status, got.body)
	}
}

// TestUnreadResponse checks that Envoy ends a connection of HTTP/1.1 whose client reads nothing of
// a response. Envoy would otherwise hold the response for as long as it keeps an idle connection.
// The idle one in this test is older and stays open.
func TestUnreadResponse(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live") // the control plane has no more connections to Envoy
	send := func(conn *tls.Conn, path string) {
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	idle := b.unreadConn(t)
	served := func() {
		send(idle, "/v1/x")
		got, err := http.ReadResponse(bufio.NewReader(idle), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close() //nolint:errcheck // it was read
		if _, err := io.Copy(io.Discard, got.Body); err != nil || got.StatusCode != http.StatusOK {
			t.Fatalf("got %s, %v", got.Status, err)
		}
	}
	served()
	send(b.unreadConn(t), "/v1/long") // it fits into Envoy's buffer
	e.Wait(t, "does not serve", func() bool { _, n := b.core.last(); return n == 2 })
	e.Wait(t, "keeps the connection", func() bool { return connections(t, e) == 1 })
	served()
}

// unreadConn returns a connection of HTTP/1.1 whose client has room for few bytes of a response. It
// does so by the options of its socket, which take Linux.
func (b *testbed) unreadConn(t *testing.T) *tls.Conn {
	t.Helper()
	small := func(_, _ string, c syscall.RawConn) (err error) {
		controlErr := c.Control(func(fd uintptr) {
			err = errors.Join(
				syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536))
		})
		return errors.Join(err, controlErr)
	}
	return b.connect(t, &net.Dialer{Control: small}, "http/1.1")
}

// connections returns the number of connections to the port of HTTPS.
func connections(t *testing.T, e *envoytest.Envoy) (n int) {
	t.Helper()
	const name = "http.edge.downstream_cx_active"
	text := e.Get(t, "/stats?filter=^http\\.edge\\.downstream_cx_active$")
	if _, err := fmt.Sscanf(text, name+": %d", &n); err != nil {
		t.Fatalf("no %s in %q: %v", name, text, err)
	}
	return n
}

// TestSilentConnections checks that connections that send nothing make room when they are many, so
// that another client is served. The administration of Envoy is available meanwhile.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	const most = 20
	b := newTestbed(t)
	b.run(t)
	e := b.envoyWith(t, func(t *testing.T, bootstrap string) string {
		t.Helper()
		if !connectionLimit.MatchString(bootstrap) {
			t.Fatal("the bootstrap has another form")
		}
		return connectionLimit.ReplaceAllString(bootstrap, fmt.Sprintf("${1}%q", strconv.Itoa(most)))
	})
	e.Listeners(t)
	begun := clock.Monotonic()
	for range most + 1 { // Envoy refuses the last one if the handshakes are fast enough
		_, _ = b.handshake(t, nil)
	}
	e.Wait(t, "keeps silent connections", func() bool { return connections(t, e) < most*8/10 })
	if got := b.send(t, b.client(), "GET", "https://"+host+"/v1/x", ""); got.status != http.StatusOK {
		t.Errorf("got %d %s", got.status, got.body)
	}
	const idle = 2 * time.Minute // without reduction
	if took := clock.Monotonic() - begun; took >= idle {
		t.Errorf("silent connections were closed after %v, want less than %v", took, idle)
	}
}

var connectionLimit = regexp.MustCompile(`(max_active_downstream_connections: )"\d+"`)

var heapSize = regexp.MustCompile(`max_heap_size_bytes: "\d+"`)

// fullHeap returns a bootstrap in which the heap is full, with no other action than reduced
// timeouts: Envoy then refuses no request.
func fullHeap(t *testing.T, bootstrap string) string {
	t.Helper()
	before, rest, found := strings.Cut(bootstrap, "  - name: envoy.overload_actions.shrink_heap\n")
	_, after, more := strings.Cut(rest, "  refresh_interval:")
	if !found || !more || !heapSize.MatchString(after) {
		t.Fatal("the bootstrap has another form")
	}
	return heapSize.ReplaceAllString(before+"  refresh_interval:"+after, `max_heap_size_bytes: "1"`)
}

// requestHead returns the encoded header fields of a request over HTTP/2.
func requestHead(t *testing.T, method, path string) []byte {
	t.Helper()
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, field := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", host}, {":path", path}} {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Error(err)
		}
	}
	return head.Bytes()
}

// unreadRequest sends a request over HTTP/2 whose response body may have no byte yet.
func unreadRequest(t *testing.T, conn *tls.Conn) *http2.Framer {
	t.Helper()
	framer := http2.NewFramer(conn, conn)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	err := framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: requestHead(t, "GET", "/v1/x"), EndStream: true, EndHeaders: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return framer
}

// envoyWith starts an Envoy with a changed bootstrap.
func (b *testbed) envoyWith(t *testing.T, change func(*testing.T, string) string) *envoytest.Envoy {
	t.Helper()
	file := b.bootstrap(t, "envoy-1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(change(t, string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return envoytest.Start(t, file)
}
