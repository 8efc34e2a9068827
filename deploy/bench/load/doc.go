// Package load drives an HTTP/1.1 server with as little work of its own as can be: it shares the machine with what it measures. Each
// connection is one goroutine over a raw socket that writes prebuilt bytes, of which it patches only a slot of fixed width, and reads
// the answer without building headers from it.
//
// It is a closed loop, in which a connection sends its next request when it has the answer to the last, or with Plan.Rate an open one,
// which sends at a fixed rate whatever the server does: that is how users come, and the only way to see how long they wait. Every answer is checked, and one wrong
// answer fails the run, because a fast refusal is not throughput. Latencies are kept one by one, so that percentiles are exact.
package load
