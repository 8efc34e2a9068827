// Package failover has only tests. They run three nodes of a Patroni cluster with the files of
// deploy/on/patroni, two cores in front of it, and clients that pay. The tests kill, stop and cut
// off the primary's node. Then they compare the acknowledged payments with the stored ones.
//
// The nodes are processes on one machine. Connections from and to a node pass relays: one for
// clients, one for replication, one for Patroni's API and one for etcd. A cut relay passes no bytes
// and closes no connection, without a packet filter. The tests run a single etcd and leave it
// alone: the failure of an etcd cluster is not their subject.
//
// The simulated acquirer records its effects in a file that no fault affects. So the oracle
// requires each acknowledged payment exactly once, in the store and at the acquirer.
//
// CAUSEWAY_FAILOVER_ROUNDS=20 runs that many rounds, with the faults in turn. It limits the time
// until payments are accepted again to the 35 s that deploy/on/patroni promises. Without it, each
// fault has one round without a limit.
package failover
