// Package webhook delivers events to the endpoints of merchants, as Standard Webhooks describes
// it.
//
// # No event is lost
//
// The commit of a transition also writes its event and the deliveries, one row for each endpoint
// that wants it (store.Tx.InsertEvent). A tenant without endpoints costs nothing: on SQLite the
// store's only writer remembers the endpoints of each tenant. Endpoints change through that same
// writer, so its memory is exact in the order of commits. An endpoint gets the events from the
// first commit after its own. A cursor for each endpoint over the events by id would lose events:
// ids come from clocks, sometimes of several processes. A later commit may hold an earlier id,
// which the cursor has passed.
//
// # At least once
//
// A Deliverer leases due deliveries, attempts each, and writes the result. One conditional UPDATE
// takes the lease and counts the attempt. The result names that count, so of two deliverers only
// one gets a delivery, and a slow one cannot overwrite a later attempt. A lease outlives every
// attempt. If its process dies, the delivery is due again when the lease ends, or at the next
// start: only one process serves a data folder. A receiver may get an event twice, under the same
// webhook-id. Of one object's events it may get a later one first: the higher sequence is the
// newer.
//
// # No merchant waits for another
//
// Attempts run side by side, in two lanes. The slow lane is for endpoints whose last attempt failed
// or took longer than a second. The fast lane is for the others, such as new ones. A request that
// takes longer than a second is late. It then no longer counts in the fast lane, and its endpoint's
// next attempts are in the slow lane. No receiver can hold an attempt of the fast lane for longer.
//
// A tenant is a merchant in one mode. It holds at most half as many attempts of a lane as are left
// of the lane's bound. A single tenant so gets a third of all attempts. Late requests count towards
// its share until they end. In the slow lane, some ten tenants whose endpoints do not respond hold
// all attempts. Another tenant then waits until an attempt ends, and has the next turn. The
// requests under way are bounded too: by the bound of the fast lane for each second that a request
// may take.
//
// In a lane the tenants take turns, with one attempt in each turn. So do the endpoints of a tenant.
// A tenant joins the end of the line when its deliveries become due, and after each turn. Neither
// the deletion and new creation of an endpoint nor a change of its URL gains a turn. Attempts at
// deleted endpoints count until they end.
//
// An endpoint has a window, the number of attempts at the same time. It begins with a few, and each
// quick success adds one, up to 100: 1,000 events a second if each takes 100 ms. A slow success
// sets the window back to the few, and a failure to one. The deliverer forgets all this when no
// delivery to the endpoint is pending, and at a restart. Endpoints that fail are stored as such.
//
// The deletion of an endpoint removes its deliveries, up to a bound and the pending ones first. A
// purge removes the rest some seconds later. A tenant cannot make an endpoint while too many of its
// deleted ones have deliveries left. So each tenant has a bounded number of queues, and repeated
// deletions do not slow down the search for due deliveries.
//
// A round leases the deliveries of each lane in one commit, and begins their attempts after that
// commit. So on a slow store a fast endpoint waits for at most two such commits before its lane is
// next. Attempts that end at the same time write their results in one commit. If such a commit
// waits for a lock, up to three other commits continue. The queue of an endpoint is a range of an
// index, and one step over it finds the next queue. A round steps over all endpoints with pending
// deliveries, including disabled ones, so its duration grows with their number.
//
// # The outbox is bounded
//
// A commit with an event does not count the pending deliveries, so no payment waits or fails for
// them. The leading core counts them twice a minute. In a queue that is too long, it ends the
// oldest deliveries as failed, with the reason in the log of deliveries. If too many deliveries
// remain in total, it shortens the longest queues to an equal length. The events stay, and can be
// delivered again.
//
// # Where a request may go
//
// The URL comes from outside, so it is a way into the operator's network. Policy refuses addresses
// that are not plainly public. It does so when the connection is made, after the name was resolved,
// so a name that changes its address in between is refused too. Redirects are not followed, and
// proxies from the environment are not used. The response is read up to a bound and dropped; no
// user sees it. Any port from 1024 on may be named: the peer is public.
package webhook
