// Package catalogue is the list of legacy methods, as data.
//
// Routing, the scope check, the side effect class, `GET /compat/methods` and the RPC names all read
// this one table. So a method cannot be served under rules that differ from the published ones.
package catalogue
