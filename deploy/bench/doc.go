// Package bench measures the ratios of the design's section 6 and prints them beside what they have to reach.
//
// # How to read the table
//
// A ratio has two sides, ours and a yardstick, and "numbers" shows both (medians over the rounds), so that a good ratio over a bad
// yardstick cannot hide. The sides run in turn, a few seconds each, for some rounds; each round gives one ratio, "value" is the median
// of them and "rounds" the lowest and the highest. When these are far apart, or the lines above the table say that others used the
// machine, run it again on a quiet one: the numbers are for comparing the sides of one run, never two runs.
//
// "met" and "short" compare the value with the reach; a missed reach does not fail the run. A wrong
// response does: the status and content of every response are checked. A measure that meets one is
// a "failed" row with the reason, the other measures still run, and the exit code is 1.
//
//   - P1: payments per second of 64 clients, each with an Idempotency-Key of its own, against package bare: the same statements with
//     the same values on the same disk, with the same pragmas, in groups of 64 payments, intents in one commit and outcomes in a
//     second one. No service can be faster, so the ratio is what the service leaves of the disk and of SQLite. Before it measures, the
//     run proves that the bare loop writes row by row what the server writes, and fails when it does not: then package bare must
//     follow core/internal/store.
//
//   - P2: the same payments against stripe-mock, which validates a charge and stores nothing; and the 99th percentiles of both.
//
//   - P3: the median wait of a lone client for a payment, which takes an intent and an outcome commit, against a single commit of all
//     the rows that the payment leaves behind.
//
//   - P4: payments per second of 32 clients by one core on PostgreSQL, with an empty database each round, against pgbench's own TPC-B-like transaction
//     of as many clients, by 64 branches, with pgbench's defaults, on the same server: fsync, full_page_writes and synchronous_commit are on, and
//     what else it is given is said when it starts (serve.Settings). Each side begins with a checkpoint. A payment is two commits, and a third that waits for no
//     disk, the simulated acquirer's; a TPC-B transaction is one. Its p50 is the mean. The server's data is where the system keeps temporary files,
//     whatever -dir says: its user has to reach it.
//
//   - P5: what a client of a legacy provider waits for a payment by compat-proxy, against what a v1 client waits for the same payment by
//     package passthrough: net/http's reverse proxy on net/http's transport, with the same server and garbage collector settings. All three programs are
//     processes of their own, and both proxies stand in front of the same core on one store. Before it measures, the run proves that the
//     core keeps the same payment for either side. p50 with one client and with four, each as fast as it is answered; p99 with 1,000
//     requests a second due, as in P9. Of provider-a it is a sale, of provider-b the authorization of its contract's first example, under an
//     HTTP signature over host, date, target, digest and merchant, made anew for each request over a body of its own; what the client
//     takes to sign is not counted. Every payment has its own invoice number: none is a duplicate, but each is looked at as if it could be
//     one. provider-a XML and provider-b JSON are what has to be reached; provider-a JSON, and the proxies' processor time, are for
//     information. In the two minutes after 00:00, 08:00 and 16:00 UTC compat-proxy asks the core once more for each sale; do not measure
//     then.
//
//   - P6: the processor time that mle-filter's engine spends on an encrypted request of 1 KiB with no more in its header than it must have, against
//     that of Go's primitives alone on the same message, already taken apart and decoded, with a key ready to use: OAEP or ECDH and key unwrapping,
//     then AES-GCM. Both are Go benchmarks inside mle-filter, each run in a process of its own. Also, without a reach, what a client could
//     learn by timing refusals of 64 KiB: a content key that cannot be read against a tag that is wrong, measured in turn. 1.00 is nothing.
//
//   - P7: requests that are repeated with their key, against reads of the transactions they made, on one server.
//
//   - P8: from starting the process to the first healthy answer, on the folder that the memory run has filled; and the highest
//     resident memory, in millions of bytes, while 64 clients post for 10 s.
//
//   - P9: the 99th percentile of the same payments when 1,000 a second are due, evenly, whatever the server does, over 64 connections.
//     A payment's time counts from when it was due, so that the wait for a free connection is in it; the generator's own lateness is
//     too. The value is the median of the rounds' percentiles, captured at once and captured later.
//
//   - P10: the cost of a payment in a store with 10 million rows, over all tables, against one with 10 thousand: the time (64 clients;
//     the inverse of the rate), and the server's processor time. Also, without a reach, that of reading any transaction by id, the first
//     page of a list and a page after any transaction. The rows are copies of a payment that the server has made, of 8 merchants over 90
//     days, with ids, keys and amounts of their own, written past the server. All idempotency keys are kept as if not one had
//     expired: their index, alone among the indexes, grows in no order, so this is the hard case. The small store does not stay small,
//     for each round adds some ten thousand payments to either side.
//
//   - P10 on PostgreSQL (alone: -only P10-server): the same in a database of a server of its own, its ten million rows over the tables that a payment
//     and a webhook delivery write to, of 28 days, made by the server from a payment of core's; vacuumed, and each side begins with a checkpoint. The
//     processor time is that of the server and core together. Behind a checkpoint a page is written whole into the log when it is first changed, and keys drawn
//     at random change many: that is in the time and the bytes, and is over within a minute. The server and its databases are removed.
//
//   - M1: what each shell of mle-filter adds to a payment, for a lone client, with the filter as it is by default: its HTTP hop against
//     package passthrough, and Envoy with the filter as its external processor, on a unix socket, against the same Envoy without it, all in front of
//     one core; p50 and p99. The yardstick is always the payment in the clear. "P-256" and "RSA-3072" are encrypted both ways: the request to the
//     filter's key, the answer to one of the client's of the same kind. The request was encrypted beforehand and the answer is not opened, for
//     that is the client's own time; that one opens, and says that the payment was made, is proven before. "added" is the difference in
//     milliseconds, the median of the rounds'.
//
//   - M2: encrypted payments per second of 16 clients by the HTTP hop, while 1,000 messages a second arrive that look like RSA ones and are none,
//     under the same API key, so that each costs the filter a private operation of RSA-3072, against the same payments alone. What is refused with 503
//     and Retry-After does not count; how much that is, of the payments and of the junk, stands beside. Junk costs 2 ms of a processor and the
//     filter spends half of the processors on RSA at most: so payments by P-256 go on, with about the other half, and those by RSA
//     share with the junk what there is, by how many of either wait. The load generator has to make and read the junk on the same machine.
//
//   - E1: what the whole edge adds to a payment, for a lone client that keeps its connection, as deploy/edge is by default: Envoy by HTTPS, configured by
//     the edge program, in front of the core program, against the same core asked by plain HTTP. "ext_proc" is v1 in the clear, with mle-filter as
//     external processor; "compat-proxy" is provider-a XML, from Envoy by compat-proxy and mle-filter's HTTP hop to core. p50, p99, and the
//     processor time a payment of all processes together, the client's own not counted; "added" is the difference, the median of the rounds'.
//
//   - M3: payments per second of two and of three cores on one database of one PostgreSQL, against one core, by 48 clients in all. On one machine all of
//     them share its processors with the server: it shows what cores cost each other, not what another machine would add.
//
//   - T1 to T10, when they are asked for: settings of PostgreSQL and of core on it, each against another value of itself, by 32 clients of one core and an
//     empty store: payments per second, p99, the server's processor time, and the bytes of its log of writes, a payment. deploy/on/postgres/README.md says
//     what to make of them.
//
// P10 runs only when it is asked for (-only P10, which is both): filling takes minutes and gigabytes, and no smaller store stands for it, since what
// it is about is pages that are not in the cache. It wants twice the space free. The filled store stays in the folder of the databases,
// named after the schema, for the next run; it is filled anew when the schema has changed, or measuring has made it a quarter larger.
//
// Every round of P1, P2, P3 and P9, and P5, M1, M2 and E1 as wholes, has a server with an empty store, and a bare loop an empty file. The server is the standalone
// program, of E1 the core program, with its default settings but without a rate limit, its log in a file. The load comes from the same machine and its cost counts against us and
// stripe-mock, but not against the bare loop.
//
// Another row of the design is another file with a function that returns it, entered in measures.
package bench
