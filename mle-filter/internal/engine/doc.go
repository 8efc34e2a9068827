// Package engine is message-level encryption without a transport. Its input is heads and bytes, its
// output bytes and header changes. It makes every decision. The two shells, the HTTP hop and
// Envoy's external processor, only execute them.
//
// A request is one Exchange. The shell calls these functions in order and omits the ones that do
// not apply:
//
//	x, problem := engine.Begin(ctx, head, caller)  // before anything is forwarded
//	body, problem := x.Unwrap(ctx, sent)           // if x.NeedsBody(): the whole body; else apply x.Ops()
//	h, problem := x.BeginResponse(head)            // with the head of core's response; of 1xx heads, only 101
//	body, problem := x.Wrap(received)              // if h.Wrap: the whole body; else apply h.Ops
//
// A problem ends the exchange. The shell then forwards no further part of the request or of core's
// response, and sends the client the problem's Ops and Body.
package engine
