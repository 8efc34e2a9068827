// Package bench measures the ratios of the design's section 6 and prints each with its reach.
//
// # How to read the table
//
// A ratio has two sides, ours and a yardstick. "numbers" shows the medians of both, so that a good
// ratio over a bad yardstick cannot hide. The sides run in turn, a few seconds each, for some
// rounds. Each round gives one ratio: "value" is their median, and "rounds" the lowest and the
// highest. If these differ much, or the lines above the table report load by other processes, run
// it again on a quiet machine. The numbers compare the sides of one run, never two runs.
//
// "met" and "short" compare the value with the reach; a missed reach does not fail the run. The
// status and content of every response are checked. A measure that meets a wrong response is a
// "failed" row with the reason, the other measures still run, and the exit code is 1.
//
//   - P1: payments per second of 64 clients, against package bare. The loop writes the same rows
//     with the same values, disk and pragmas, in groups of 64 payments. The intents are in one
//     commit and the outcomes in a second one. Each payment has its own Idempotency-Key. No service
//     can be faster, so the ratio is the share of the disk and of SQLite that the service uses. The
//     run learns the rows from a payment with a slow card.
//
//   - P2: the same payments against stripe-mock, which validates a charge and stores nothing. A
//     second row has the 99th percentiles of both.
//
//   - P3: the median time of a payment for a lone client, against a single commit of all rows of
//     the payment. A payment takes two commits, for the intent and the outcome.
//
//   - P4: payments per second of 32 clients by one core on PostgreSQL, against pgbench's TPC-B-like
//     transaction of 32 clients on the same server. Core has an empty database each round, pgbench
//     64 branches. fsync, full_page_writes and synchronous_commit are on, and the run prints the
//     other settings (settings). Each side begins with a checkpoint. A payment is two
//     commits. A TPC-B transaction is one. The p50 of pgbench is its mean. The server's data is
//     always in the system's folder for temporary files, since another user must reach it.
//
//   - P5: the time of a payment for a legacy client at compat-proxy, against a v1 client at package
//     passthrough. Both proxies stand in front of the same core. Before it measures, the run proves
//     that core stores the same payment for either side. p50 with one client and with four in a
//     closed loop, p99 with 1,000 requests due a second, as in P9. Provider-a is a sale by XML.
//     Provider-b is an authorization by JSON, signed again for each request. The client's time to
//     sign is not counted. Every payment has its own invoice number, so none is a duplicate. In the
//     two minutes after 00:00, 08:00 and 16:00 UTC compat-proxy looks each sale up at core once
//     more. Do not measure then.
//
//   - P6: the processor time of mle-filter's engine for an encrypted request of 1 KiB, against Go's
//     primitives on the same message. These are OAEP or ECDH and key unwrapping, then AES-GCM, for
//     a parsed message and a prepared key. Both are Go benchmarks inside mle-filter, each run in
//     its own process.
//
//   - P7: requests that are repeated with their key, against reads of the transactions they made,
//     on one server.
//
//   - P8: the time from the start of the process to the first healthy response, on the folder that
//     the memory run has filled. A second row has the highest resident memory, in millions of
//     bytes, while 64 clients post for 10 s.
//
//   - P9: the 99th percentile of the same payments if 1,000 a second are due over 64 connections.
//     The time of a payment counts from when it was due. So it includes the wait for a free
//     connection and the generator's own delay. The value is the median of the rounds' percentiles,
//     captured immediately and captured later.
//
//   - P10: the cost of a payment in a store with 10 million rows, against a store with 10 thousand,
//     on SQLite and on PostgreSQL. The rows are counted over all tables that a payment writes to.
//     The cost is the time with 64 clients, and the processor time of core and its store. Package
//     fill copies one payment of core, for 8 merchants over 28 days. All idempotency keys are kept
//     as if none had expired. Only their index grows in random order, so this is the hard case. On
//     PostgreSQL each side begins with a checkpoint. After it, the first change of each page writes
//     the whole page into the log. The small store does not stay small: each round adds some ten
//     thousand payments to either side.
//
//   - P11: the 99th percentile of a payment of one merchant, of 50 a second, while 16 clients of
//     another merchant list. Each list has to read all payments of that merchant, a million of
//     them, and finds none. After a list that core rejects, the client lists again immediately. The
//     same payments alone are the yardstick. It is measured with core on SQLite and on PostgreSQL.
//     Package fill copies the payments.
//
//   - P12: the 99th percentile of a payment, of 50 a second, while 2,000 connections hold
//     unfinished bodies. They come from 20 other addresses and have no login. The same payments
//     alone are the yardstick. It is measured at v1 and at both dialects of compat-proxy. A
//     connection that the server closes is opened again after a second. One refused payment fails
//     the row.
//
//   - P13: the median time from an event to its delivery at an instant endpoint, for 200 events one
//     after the other. 64 endpoints of two merchants have deliveries meanwhile, and accept each of
//     them after 10 s. The same events alone are the yardstick. The time counts from the response
//     to the request that made the event. A second row has the deliveries a second to one endpoint
//     that takes 100 ms and has a queue. Both are measured with core on SQLite and on PostgreSQL.
//     The receivers are in the process of the benchmark.
//
//   - P14: the median time of a card payment at the connector of each provider, without the store.
//     The same bytes, sent by net/http to the same host, are the yardstick. The host is in the same
//     process and responds immediately, without TLS. So the connector's share is the greatest
//     possible. Both sides are Go benchmarks inside core, each run in its own process.
//
// P10 and P11 run only on request (-only P10,P11), since filling takes minutes and gigabytes. No
// smaller store can replace that of P10: its subject is pages outside of the cache. All stores are
// removed at the end.
//
// Every round of P1, P2, P3 and P9 has a server with an empty store, and so has P5 as a whole. A
// bare loop has an empty file. The server is the standalone program, without a rate limit and with
// its log in a file. The load comes from the same machine. Its cost counts against us and
// stripe-mock, but not against the bare loop.
//
// To add a row of the design, add a file with a function that returns it, and enter the function in
// measures.
package bench
