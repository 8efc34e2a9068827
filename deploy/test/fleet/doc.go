// Package fleet starts several processes of each program on one PostgreSQL, and kills, stops and
// replaces them. It also starts a standalone. It is for tests and benchmarks only.
//
// A request of v1 goes to any core, directly or by any filter. A legacy request goes by any proxy
// and any filter to any core. A Balancer selects each of them: it runs in the test and never dies.
// A client that selects an instance itself finds all of them in Group.All.
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	f := fleet.Start(t, fleet.Config{Cores: 3, Filters: 3, Proxies: 3, Store: pgtest.Schema(t)})
//	f.Cores.All()[1].Kill()     // kill -9
//	f.Cores.All()[1].Start(t)   // again, at the same address
//	f.Cores.URL()               // any core that accepts connections
package fleet
