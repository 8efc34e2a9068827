// Package crash drives every command of v1 that writes, while the process that serves it is killed, and then judges what is left.
//
// A Harness is a merchant with many clients and a webhook receiver. Load has each client tell stories (a payment, a customer, a key, an
// endpoint), request by request, until the process dies. Recover asks again, under the same key, for every answer that was lost. Judge holds
// what v1 shows, what its store keeps, what the acquirer wrote down by itself, and what the receiver got against what was answered:
//
//   - what was acknowledged is there, exactly so, and was announced in the same bytes;
//   - what was asked for again under its key has one outcome and one effect;
//   - what was asked for without a key, and not answered, is there at most once;
//   - the acquirer holds and moved what v1 shows, and nothing else;
//   - nothing is left open, and no key in progress;
//   - each object's events are the sequence 1, 2, … up to its version, and each was delivered as v1 shows it, signed.
//
// Every object carries the marker of the request that made it, so that one that nobody asked for, or asked for once, is seen. The harness
// shares no code with what it judges but the contract's types: journal, signatures and tables are read by its own means.
package crash
