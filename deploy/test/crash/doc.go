// Package crash drives every command of v1 that writes while the process that serves it is killed,
// and then judges the result.
//
// A Harness is a merchant with many clients and a webhook receiver. In Load each client runs
// scenarios (a payment, a customer, a key, an endpoint), request by request, until the process
// dies. Recover retries every request without a response, under the same key. Judge compares the
// responses with v1, its store, the acquirer's journal and the deliveries to the receiver:
//
//   - an acknowledged effect exists, with the same bytes in its event;
//   - a request that was retried under its key has one outcome and one effect;
//   - a request without a key and without a response had its effect at most once;
//   - the acquirer holds and moved the money that v1 shows, and no more;
//   - nothing is left open, and no key in progress;
//   - each object's events are the sequence 1, 2, … up to its version, and each was delivered as v1
//     shows it, signed.
//
// Every object carries the marker of the request that made it. So the judge finds an object that
// no request made, and two objects of one request. The harness shares only the contract's types
// with the code that it judges.
package crash
