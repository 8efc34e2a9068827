// Package fleet starts several of each program on one PostgreSQL, each as a process of its own, and kills, stops and replaces them. It is for tests only.
//
// The way of a request is that of deploy/: a client's v1 goes to any core, or to any filter and from there to any core; a legacy client's goes to any
// proxy, from there to any filter, and from there to any core. "Any" is a Balancer's choice, which is in the test and never dies: it hands each
// connection to the next instance that takes one. Clients that choose by themselves find the instances in Group.All.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	f := fleet.Start(t, fleet.Config{Cores: 3, Filters: 3, Proxies: 3, Store: pgtest.Schema(t)})
//	f.Cores.All()[1].Kill()     // kill -9
//	f.Cores.All()[1].Start(t)   // again, at the same address
//	f.Cores.URL()               // a core that is alive
package fleet
