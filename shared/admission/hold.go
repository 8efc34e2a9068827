package admission

import (
	"context"
	"net/http"
)

// ordinaryResponse is the longest response that does not count: it is as small as the buffers of
// its connection.
const ordinaryResponse = 16 << 10

// Received makes the request of ctx hold n bytes of Config.Memory for the data of its response. The
// data come from another service or a database. The request holds the bytes until the next call or
// the end of the handler. method is the method of the request that needs them.
//
// For GET and HEAD it returns ErrTooMany or ErrOverloaded if a bound forbids the bytes. Then the
// caller must not read the response. It counts other responses without a bound, because a lost one
// would leave the outcome of a change unknown.
func Received(ctx context.Context, method string, n int64) error {
	t := ticketFrom(ctx)
	if t == nil || t.limiter.memory == nil {
		return nil
	}
	t.giveResponse(&t.received)
	return t.hold(&t.received, method, n)
}

// Sent is Received for a response to the client itself, or a part of it. The request holds the
// bytes until the end of the handler.
func Sent(ctx context.Context, method string, n int64) error {
	t := ticketFrom(ctx)
	if t == nil || t.limiter.memory == nil {
		return nil
	}
	return t.hold(&t.sent, method, n)
}

// hold adds n bytes to held.
func (t *ticket) hold(held *int64, method string, n int64) error {
	if n <= ordinaryResponse {
		return nil
	}
	if method != http.MethodGet && method != http.MethodHead {
		t.limiter.memory.give(t.client, -n)
	} else if err := t.limiter.memory.take(t.client, n); err != nil {
		t.limiter.refused(reasonOf(err))
		return err
	}
	*held += n
	return nil
}

// giveResponse gives the bytes of a response back.
func (t *ticket) giveResponse(held *int64) {
	if *held > 0 {
		t.limiter.memory.give(t.client, *held)
	}
	*held = 0
}
