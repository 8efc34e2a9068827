// Package engine is message-level encryption without a transport: heads and bytes in, bytes and header changes out. Both shells, the HTTP
// hop and Envoy's external processor, do what it decides and decide nothing themselves.
//
// A request is one Exchange. The shell calls, in this order and leaving out what does not apply:
//
//	x, problem := engine.Begin(ctx, head, caller)  // before anything is forwarded
//	body, problem := x.Unwrap(ctx, sent)           // when x.NeedsBody(): the whole body; else x.Ops() go onto the request
//	answer, problem := x.BeginResponse(head)       // on the head of core's answer, but not on 1xx heads other than 101
//	body, problem := x.Wrap(received)              // when answer.Wrap: the whole body; else answer.Ops go onto the answer
//
// A problem ends the exchange: nothing is forwarded, or nothing of core's answer is, and the client gets the problem's Ops and Body.
package engine
