// Package load drives an HTTP/1.1 server with little processor time, since it shares the machine
// with the server. Each connection is one goroutine over a raw socket, which writes prebuilt bytes.
//
// A closed loop sends the next request of a connection after the last response. With Plan.Rate it
// is an open loop, which sends at a fixed rate, as users do. Only an open loop shows their wait.
// Every response is checked, and a wrong one fails the run, because a fast refusal is not
// throughput. All latencies are kept, so that percentiles are exact.
package load
