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
// # No merchant waits for another
//
// Attempts run side by side, in two lanes. The fast lane is for endpoints that respond within a second,
// and for those without a result here, the new ones included. The slow lane is for endpoints whose last
// attempt failed or took longer. A request that takes longer than a second is late: it no longer counts
// in the fast lane, and its endpoint gets its next attempts in the slow one. So the fast lane has all
// its attempts to give again within a second, whatever the receivers do.
//
// A tenant is a merchant in one mode. It holds at most half as many attempts of a lane as are left of
// the lane's bound: a third of all, if it is the only one. Late requests count towards its share until
// they end. In the slow lane, some ten tenants whose endpoints do not respond hold all attempts. Another
// tenant then waits until an attempt ends, and has the next turn. In the fast lane nothing is held for
// longer than a second. So the requests under way are bounded too, by the fast lane's bound for each
// second that a request may take.
//
// In a lane the tenants have their turns one after the other, for one attempt at a time, and so have the
// endpoints of a tenant. A tenant whose deliveries become due, and one that had its turn, is the last
// one in the line. An endpoint that is deleted and made again gains no turn, and neither does one whose
// URL is changed. Attempts at deleted endpoints count until they end.
//
// An endpoint has a window, the number of attempts at once. It begins with a few, and each quick success
// adds one, up to 100: 1,000 events a second if each takes 100 ms. A slow success sets it back to the
// few, and a failure to one. All this is forgotten once no delivery to the endpoint is pending, and at
// a restart. Endpoints that fail are stored as such.
//
// The deletion of an endpoint removes its deliveries, up to a bound and the pending ones first. A purge
// removes the rest some seconds later. A tenant cannot make an endpoint while too many of its deleted
// ones have deliveries left. So each tenant has a bounded number of queues, and deletions in a loop
// do not lengthen the look for due deliveries.
//
// A round leases the deliveries of each lane in one commit, and begins their attempts when it has
// committed. So on a slow store a healthy endpoint waits for two such commits at most before its
// lane is next. The queue of an endpoint is a range of an index, and the next is found by one step
// over it. A round steps over all endpoints with pending deliveries, the disabled ones included: it
// takes longer the more of them there are.
//
// # Where a request may go
//
// The URL comes from outside, so it is a way into the operator's network. Policy refuses addresses that are not plainly public where the
// connection is made, after the name was resolved: a name that changes its address between check and use gains nothing. Redirects
// are not followed, proxies from the environment not used, and what the receiver answers is read up to a bound and dropped; nobody is
// shown it. Any port may be named: the peer is public, and it is not for us to know what it listens on.
package webhook
