// Package clustertest has no code: the packages below it run several cores, proxies and filters on one PostgreSQL as programs, break what can break
// while clients pay, and hold what is left against what was answered.
//
//   - failover: the servers of a Patroni cluster are killed, stopped and cut off.
//   - kill: the programs are.
//   - upgrade: the programs are replaced by newer ones, with another schema.
//
// Package fleet starts all these programs.
package clustertest
