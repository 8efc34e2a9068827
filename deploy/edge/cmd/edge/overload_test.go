package main

import (
	"bytes"
	"crypto/tls"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/envoytest"
)

// TestReducedTimeouts checks that Envoy ends a response that is not read much sooner when its heap
// is full. So responses that wait for slow clients leave the heap.
func TestReducedTimeouts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.configure(t, "")
	b.run(t)
	e := b.envoyWith(t, fullHeap)
	e.Listeners(t)
	e.Wait(t, "does not reduce its timeouts", func() bool {
		return strings.Contains(e.Get(t, "/stats"), "overload.envoy.overload_actions.reduce_timeouts.scale_percent: 100\n")
	})
	conn, err := b.handshake(t, func(c *tls.Config) { c.NextProtos = []string{http2.NextProtoTLS} })
	if err != nil {
		t.Fatal(err)
	}
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
func (b *bed) envoyWith(t *testing.T, change func(*testing.T, string) string) *envoytest.Envoy {
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
