package programtest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Unfinished is a request whose body arrives only in part.
type Unfinished struct {
	conn net.Conn
	in   *bufio.Reader
}

// MustSendUnfinished sends the head of a POST to a program, from a loopback address if from is not
// "". It returns when the program requests the body. The fields are lines of the head. The body has
// 100 bytes unless they give its Content-Length.
func MustSendUnfinished(tb testing.TB, from, at, path string, fields ...string) *Unfinished {
	tb.Helper()
	u := MustSendHead(tb, from, at, path, fields...)
	response, err := http.ReadResponse(u.in, nil)
	if err != nil {
		tb.Fatal(err)
	}
	_ = response.Body.Close() // an interim response has none
	if response.StatusCode != http.StatusContinue {
		tb.Fatalf("got %d, want 100", response.StatusCode)
	}
	return u
}

// MustSendHead is MustSendUnfinished without waiting for the program.
func MustSendHead(tb testing.TB, from, at, path string, fields ...string) *Unfinished {
	tb.Helper()
	var dialer net.Dialer
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := dialer.DialContext(tb.Context(), "tcp", at)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() }) // all was read, or the test is over
	if err := conn.SetDeadline(clock.System().Now().Add(Patience)); err != nil {
		tb.Fatal(err)
	}
	if !slices.ContainsFunc(fields, func(field string) bool { return strings.HasPrefix(field, "Content-Length:") }) {
		fields = append(slices.Clip(fields), "Content-Length: 100")
	}
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n" + strings.Join(fields, "\r\n")
	if _, err := io.WriteString(conn, head+"\r\n\r\n"); err != nil {
		tb.Fatal(err)
	}
	return &Unfinished{conn, bufio.NewReader(conn)}
}

// MustSend sends a part of the body.
func (u *Unfinished) MustSend(tb testing.TB, part string) {
	tb.Helper()
	if _, err := io.WriteString(u.conn, part); err != nil {
		tb.Fatal(err)
	}
}

// MustRespond returns the program's response with its body.
func (u *Unfinished) MustRespond(tb testing.TB) (status int, body string) {
	tb.Helper()
	response, err := http.ReadResponse(u.in, nil)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	_ = response.Body.Close() // it was read
	return response.StatusCode, string(text)
}

// MustEnd is MustRespond, and fails the test unless the program then closes the connection.
func (u *Unfinished) MustEnd(tb testing.TB) (status int, body string) {
	tb.Helper()
	status, body = u.MustRespond(tb)
	if more, err := u.in.ReadByte(); err == nil {
		tb.Errorf("the connection stays open and has %q", more)
	}
	return status, body
}
