// Package failover has tests alone: three nodes of a Patroni cluster, set up by the very files of deploy/on/patroni, with two cores in front of them and
// clients that pay meanwhile. The primary's node is killed, stopped and cut off; what was acknowledged is held against what is there afterwards.
//
// The nodes are processes on one machine. What leaves or reaches a node goes through relays, one for clients, one for the other nodes' PostgreSQL, one for
// Patroni's API and one for etcd, which can be cut without a packet filter: nothing passes any more, and no connection ends. There is one etcd, on which
// nothing is done: what happens to a cluster of etcds is etcd's affair.
//
// The simulated acquirer keeps its book on a server of its own, which nothing happens to: each node has core's table for it as a foreign one. So the oracle
// can want each payment that was acknowledged to be there exactly once, in the store and at the acquirer. It does not see what an acquirer would do of which
// no answer comes back, other than by the primary's end: core reaches the book by the primary.
//
// CAUSEWAY_FAILOVER_ROUNDS=20 makes that many rounds, the faults by turns, and holds the time until payments are taken again against the 35 s that
// deploy/on/patroni promises; without it there is one round of each fault, however long it takes.
package failover
