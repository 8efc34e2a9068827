// Package catalogue is the list of legacy methods, as data.
//
// Routing, the scope check, the side effect class, `GET /compat/methods` and the RPC names all read this one table, so a method
// can not be served under rules that differ from the ones it is published with.
package catalogue
