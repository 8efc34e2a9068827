package admission

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// Errors of Read, ReadBody and Identify.
var (
	ErrTooLarge   = errors.New("body too large")
	ErrEncoding   = errors.New("content encoding not supported")
	ErrSlow       = errors.New("body arrives too slowly")
	ErrUnfinished = errors.New("the client has too many unfinished bodies")
	ErrTooMany    = errors.New("the client has too many requests under way")
	ErrOverloaded = errors.New("too many requests are under way")
)

// IsBusy reports whether a request was refused because too many are under way, of the client or of
// all clients. It can be repeated later.
func IsBusy(err error) bool {
	return errors.Is(err, ErrUnfinished) || errors.Is(err, ErrTooMany) || errors.Is(err, ErrOverloaded)
}

const (
	// minRate is how many bytes of a body must arrive each second after the grace period.
	minRate = 8 << 10
	// bodyTime is the longest time that a body gets, unless its grace period is longer. It is the
	// ReadTimeout of our servers.
	bodyTime = 30 * time.Second
	// linger is how long the connection of a refused body stays open for the rest. A connection that
	// closes while the client sends is reset, and the client may lose the response.
	linger = 500 * time.Millisecond
)

// ReadBody is Read for a body that the program itself decodes. It returns ErrEncoding for a
// Content-Encoding other than identity, which could hide a larger body.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	for _, v := range r.Header["Content-Encoding"] {
		if v != "" && !strings.EqualFold(v, "identity") {
			return nil, ErrEncoding
		}
	}
	return Read(w, r, limit)
}

// Read reads the whole body, of at most limit bytes. It returns one of these errors, or the wrapped
// error of a connection that broke; with them, the bytes that were read.
//
//   - ErrTooLarge: the body is longer than limit.
//   - ErrSlow: it arrives too slowly. The response should be 408.
//   - ErrUnfinished: other unfinished bodies of the client hold its share of the bytes.
//   - ErrOverloaded: the unfinished bodies of all clients hold all bytes, or the body is read and
//     no slot or no memory is free.
//   - ErrTooMany: the body is read, and other requests of the client hold its share of the slots or
//     of the memory.
//
// If the rest of a body is not read, a connection of HTTP/1.1 closes after the response. The
// request holds no slot while the body arrives, and none after an error. Only the goroutine of the
// handler may call it.
func Read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	t := ticketFrom(r.Context())
	if t == nil {
		t = unlimited.ticket(r.Context())
	}
	body, err := []byte(nil), ErrTooLarge
	if r.ContentLength > limit {
		t.release()
	} else {
		body, err = t.read(w, r, limit)
	}
	reason := reasonOf(err)
	if reason != "" {
		t.limiter.refused(reason)
	}
	if reason != "" || errors.Is(err, ErrTooLarge) {
		leaveUnread(w, r, err)
	}
	return body, err
}

// leaveUnread prepares the response to a request whose body is not read to its end. In HTTP/1.1 the
// connection closes. In HTTP/2 one stream must not end the others. Some clients read no response
// before they have sent the whole body, so the rest of a too large one is read.
func leaveUnread(w http.ResponseWriter, r *http.Request, err error) {
	httpx.CloseUnread(w, r)
	if r.ProtoMajor >= 2 && errors.Is(err, ErrTooLarge) {
		httpx.Discard(w, r)
	}
}

// unlimited is for requests that no Limiter admitted.
var unlimited = New(Config{Bytes: 1 << 60})

// reasonOf returns the reason to count err by, or "".
func reasonOf(err error) string {
	switch {
	case errors.Is(err, ErrOverloaded):
		return ReasonOverloaded
	case errors.Is(err, ErrTooMany):
		return ReasonTooMany
	case errors.Is(err, ErrUnfinished):
		return ReasonUnfinished
	case errors.Is(err, ErrSlow):
		return ReasonSlow
	}
	return ""
}

// read reads the body without a slot, and acquires a slot when the body is complete.
func (t *ticket) read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	t.release()
	in := reading{ticket: t, body: r.Body, writer: w, began: clock.System().Now(), base: baseOf(r.Header)}
	defer func() { t.limiter.bodies.give(t.client, in.held) }()
	body, err := in.all(r.ContentLength, limit)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return body, ErrSlow
	case errors.Is(err, ErrUnfinished), errors.Is(err, ErrOverloaded):
		in.deadline(clock.System().Now().Add(linger)) // the rest is not waited for
		return body, err
	case err != nil:
		return body, fmt.Errorf("read body: %w", err)
	}
	in.deadline(time.Time{}) // the deadline would cancel the request
	if int64(len(body)) > limit {
		return body[:limit], ErrTooLarge
	}
	t.keepRead(w)
	return body, t.acquire(body)
}

// reading is one body that arrives.
type reading struct {
	ticket *ticket
	body   io.Reader
	writer http.ResponseWriter
	began  time.Time
	base   int64 // bytes that the request needs without its body
	held   int64 // bytes that were taken
	memory bool  // the writer has no deadlines, so the body is in memory
}

// deadline makes reads fail from t on.
func (in *reading) deadline(t time.Time) {
	if !in.memory {
		in.memory = http.NewResponseController(in.writer).SetReadDeadline(t) != nil
	}
}

// all reads the body to its end, or one byte more than limit. length is the announced length, -1
// for an unknown one. The buffer has one byte more than is expected, so that it need not grow to
// find the end. It grows only when it is full, so that a client must really send the bytes that its
// bodies hold.
func (in *reading) all(length, limit int64) ([]byte, error) {
	size := min(limit+1, firstBuffer)
	if length >= 0 {
		size = min(length+1, firstBuffer)
	}
	var buffer []byte
	for ; ; size = grown(size, length, limit) {
		if err := in.hold(size); err != nil {
			return buffer, err
		}
		larger := make([]byte, len(buffer), size)
		copy(larger, buffer)
		buffer = larger
		for len(buffer) < cap(buffer) {
			in.deadline(in.until(int64(len(buffer))))
			n, err := in.body.Read(buffer[len(buffer):cap(buffer)])
			buffer = buffer[:len(buffer)+n]
			if errors.Is(err, io.EOF) {
				return buffer, nil
			}
			if err != nil {
				return buffer, err
			}
		}
		if int64(len(buffer)) > limit {
			return buffer, nil
		}
	}
}

// grown returns the size of the buffer that follows a full one.
func grown(size, length, limit int64) int64 {
	if size <= length {
		return min(2*size, length+1)
	}
	return min(2*size, limit+1)
}

// hold makes the request hold a buffer of size bytes, besides its base.
func (in *reading) hold(size int64) error {
	more := in.base + max(size, firstBuffer) - in.held
	if err := in.ticket.limiter.bodies.take(in.ticket.client, more); err != nil {
		return err
	}
	in.held += more
	return nil
}

// until returns the time by which more than n bytes must have arrived.
func (in *reading) until(n int64) time.Time {
	allowed := in.ticket.limiter.grace + time.Duration(n)*time.Second/minRate
	return in.began.Add(min(allowed, max(bodyTime, in.ticket.limiter.grace)))
}

// keepRead makes the connection stay open after the response: the body is read.
func (t *ticket) keepRead(w http.ResponseWriter) {
	if t.closes {
		w.Header().Del("Connection")
	}
	t.closes = false
}
