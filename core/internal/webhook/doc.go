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
// Attempts run side by side. The endpoints are in three groups: those that took their last delivery
// here, those that fail, and those without a result here, the new ones included. Each group has a bound
// of attempts. However many endpoints of a group do not respond, those of the others are attempted.
//
// In a group the merchants have their turn one after the other, for one attempt at a time. A merchant
// whose deliveries become due, and one that had its turn, is the last one in the line. Test and live
// mode of a merchant have its turns one after the other, and so have the endpoints of a mode: a few
// attempts at each, and one at a failing endpoint. An endpoint that is deleted and made again gains
// no turn, and neither does one whose URL is changed.
//
// A merchant holds at most as many attempts of a group as are left of the bound, and a mode at most
// as many as are then left of its merchant's share. So one mode alone holds a third of the bound,
// and two modes alone two fifths. Each further merchant takes a part of what is left: ten to
// fifteen merchants whose endpoints do not respond hold a whole group. Another merchant of the
// group then waits until an attempt ends, and has the next turn. A mode that holds none may wait
// while other merchants hold the attempts that its merchant's other mode left: up to the time of an
// attempt. It is attempted before that mode is. Attempts at deleted endpoints count until they end.
//
// The deletion of an endpoint removes its deliveries, up to a bound and the pending ones first. A purge
// removes the rest some seconds later. A tenant cannot make an endpoint while too many of its deleted
// ones have deliveries left. So each tenant has a bounded number of queues, and deletions in a loop
// do not lengthen the look for due deliveries.
//
// A round leases the deliveries of each group in one commit, and begins their attempts when it has
// committed. So on a slow store a healthy endpoint waits for three such commits at most before its
// group is next. The queue of an endpoint is a range of an index, and the next is found by one step
// over it. A round steps over all endpoints with pending deliveries, the disabled ones included: it
// takes longer the more of them there are.
//
// After a restart all endpoints that do not fail are without a result. The failing ones are stored as
// such, so that they delay no other then either.
//
// # Where a request may go
//
// The URL comes from outside, so it is a way into the operator's network. Policy refuses addresses that are not plainly public where the
// connection is made, after the name was resolved: a name that changes its address between check and use gains nothing. Redirects
// are not followed, proxies from the environment not used, and what the receiver answers is read up to a bound and dropped; nobody is
// shown it. Any port may be named: the peer is public, and it is not for us to know what it listens on.
package webhook
