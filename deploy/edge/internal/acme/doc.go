// Package acme orders certificates from an authority by ACME, and renews them.
//
// Make a Source from Settings, and run it like any other certfile.Source. It needs two ways in from
// outside. Handler serves HTTP-01 and is mounted at ChallengePath of plain HTTP on port 80.
// ServeTLS serves TLS-ALPN-01 and gets the raw connections of port 443 with the protocol
// acme-tls/1. Both are always open and reject every request without an order. By naming an
// authority, the operator accepts its terms.
//
// Package certmagic handles accounts, orders, challenges and renewal information (ARI). This
// package decides when to order and checks the result, for three reasons. certmagic would order one
// certificate for each host, but the edge serves one for all. Certificates here rotate every 60 to
// 90 days, independently of their life (see due). And a certificate must pass the same checks as
// one from a folder before it is published.
//
// The folder is readable by its owner only. It has certmagic's account with its key, edge/pair.pem
// and edge/state.json. The first is the present certificate with its key in one file, so that a
// crash cannot separate them. The second is the time of its issue and of the attempts since. A
// restart continues from there: it orders no certificate that it has. A program in a crash loop
// orders no more often than a running one, at most four times an hour.
//
// A failed attempt leaves the present certificate. The next one follows after a minute, and each
// further one after three times as long, at most six hours. The pause is also at most a tenth of
// the certificate's remaining life. The tests run against Pebble, the ACME test server.
package acme
