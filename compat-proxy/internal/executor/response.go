package executor

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
)

// response is v1's last response to one call.
type response struct{ v1client.Response }

// call sends a call without an Idempotency-Key.
func (x *Executor) call(ctx context.Context, send v1client.Send) response {
	return response{x.client.Call(ctx, send)}
}

// withOrigin returns r with the origin of the response: v1 made the object that it describes at
// made.
func withOrigin(r command.Result, resp response, made time.Time) command.Result {
	r.Origin = command.Origin{Replayed: resp.Replayed, Stored: resp.Stored, Claimed: resp.Claimed, Made: made}
	return r
}

// result returns the result that a response other than a success stands for.
func (resp response) result() command.Result { return command.ResultOf(resp.Response) }

// read reads the response to a GET into v. It reports false, with the result to give, if nothing in
// it matches.
func (resp response) read(v any, matches func() bool) (command.Result, bool) {
	return command.Read(resp.Response, v, matches)
}
