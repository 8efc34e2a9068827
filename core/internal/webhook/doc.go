// Package webhook brings events to the endpoints that merchants have named, as Standard Webhooks describes it.
//
// # No event is lost
//
// The event of a transition and its deliveries, one row for each endpoint that wants it, are written in the transition's own commit
// (store.Tx.InsertEvent). A tenant without endpoints costs nothing: the store's one writer remembers who has which endpoints, and since
// endpoints change through that same writer, what it remembers is exact in the order of commits. An endpoint is delivered to from the
// first commit after its own. Walking the events by id with a cursor for each endpoint, the other way to do it, was not taken: ids
// come from clocks, those of several processes at times, so that a later commit may hold an earlier id and the cursor be past it.
//
// # At least once
//
// A Deliverer leases due deliveries, attempts each, and writes what came of it. The lease is taken by one conditional UPDATE, which also
// counts the attempt; writing the outcome names that count. So of two deliverers only one gets a delivery, and one that was too slow
// cannot write over a later attempt. A lease outlives every attempt; when its process dies, the delivery is due again once it ends, or at
// the next start, because only one process serves a data folder. A receiver may see an event twice, under the same webhook-id, and
// of one object's events a later one first: the higher sequence is the newer.
//
// # No endpoint waits for another
//
// Attempts run side by side, a few for each endpoint. An endpoint whose last attempt failed gets one
// at a time. All endpoints that did not take their last delivery here, the new ones included, have a
// bound of their own: however many do not respond, the responsive ones are attempted.
//
// Endpoints have their turn one after the other, the failing ones last. A round begins the attempts
// of each commit when it has committed, and ends with the first commit for failing endpoints. So on a
// slow store a healthy endpoint waits for a few failing ones at most, and each failing one is attempted
// in time. The queue of an endpoint is a range of an index, and the next is found by one step over it.
//
// # Where a request may go
//
// The URL comes from outside, so it is a way into the operator's network. Policy refuses addresses that are not plainly public where the
// connection is made, after the name was resolved: a name that changes its address between check and use gains nothing. Redirects
// are not followed, proxies from the environment not used, and what the receiver answers is read up to a bound and dropped; nobody is
// shown it. Any port may be named: the peer is public, and it is not for us to know what it listens on.
package webhook
