package admission_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestAwait checks that a request whose body arrives elsewhere holds bytes instead of its slot.
// Arrived and the end of the handler give them back.
func TestAwait(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	l := admission.New(admission.Config{Slots: 1, Bytes: 3 * unit, Refused: func(reason string) { counted[reason]++ }})
	serve := func(do func(ctx context.Context)) (status int) {
		next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(r.Context()) })
		return call(l.Handler(http.HandlerFunc(full), next), get(t.Context())).Code
	}
	await := func(ctx context.Context, size int64, want error) {
		t.Helper()
		if err := admission.Await(ctx, size); !errors.Is(err, want) {
			t.Errorf("%d bytes: got %v, want %v", size, err, want)
		}
	}
	serve(func(outer context.Context) {
		await(outer, 2*unit, nil)
		if got := serve(func(ctx context.Context) { // the slot is free
			await(ctx, unit+1, admission.ErrOverloaded)
			await(ctx, 1, nil)
			if err := admission.Arrived(ctx); err != nil {
				t.Error(err)
			}
			if err := admission.Arrived(outer); !errors.Is(err, admission.ErrOverloaded) {
				t.Errorf("without a free slot: got %v", err)
			}
		}); got != http.StatusOK {
			t.Errorf("during an unfinished body: got %d", got)
		}
		await(outer, 3*unit, nil) // the end of the handler gives it back
	})
	serve(func(ctx context.Context) { await(ctx, 3*unit, nil) })
	if got := counted[admission.ReasonOverloaded]; got != 2 {
		t.Errorf("counted %v, want both refusals", counted)
	}
	await(t.Context(), 1<<60, nil) // no Limiter admitted it
	if err := admission.Arrived(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestUnreadBody checks that a response does not wait for an unread body. After a body that was
// read, the connection stays open.
func TestUnreadBody(t *testing.T) {
	t.Parallel()
	l := admission.New(admission.Config{})
	h := l.Handler(nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/reads" {
			if _, err := admission.Read(w, r, 1<<20); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(strings.Repeat("a", 5000))) // more than net/http keeps until the end
	}))
	s := httptest.NewServer(h) // it has no ReadTimeout
	t.Cleanup(s.Close)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // all was read
	if err := conn.SetDeadline(clock.System().Now().Add(programtest.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(got.Body); got.StatusCode != http.StatusUnauthorized || len(text) != 5000 || !got.Close {
		t.Errorf("got %d, %d bytes, %v, closes: %t", got.StatusCode, len(text), err, got.Close)
	}
	_ = got.Body.Close() // it was read
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/reads", strings.NewReader("body"))
	if field := call(h, r).Header().Get("Connection"); field != "" {
		t.Errorf("after a body that was read: Connection is %q", field)
	}
}
