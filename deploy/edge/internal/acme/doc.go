// Package acme gets certificates from an authority by ACME, and renews them in time.
//
// A Source is made of Settings, run like any other certfile.Source, and given two ways in from outside: Handler answers HTTP-01 and is mounted at
// ChallengePath of plain HTTP on port 80; ServeTLS answers TLS-ALPN-01 and gets the connections of port 443 whose protocol is acme-tls/1, as they
// come, TLS included. Both are open all the time and answer nothing while no order runs. To name an authority is to agree to its terms.
//
// Accounts, orders, challenges and renewal information (ARI) are certmagic's. When to order and what to do with the answer is ours, because
// certmagic would make one certificate for each host, and the edge serves one for all; because certificates here rotate every 60 to 90 days
// whatever their life (see due); and because a certificate is checked by the same rules as one from a folder before anybody sees it.
//
// In the folder lie, readable by its owner alone: the account with its key, by certmagic; edge/pair.pem, the present certificate with its key, in one
// file so that it is never half of two; edge/state.json, when it came and what was tried since. A restart goes on from there: it orders nothing that
// it has, and a program that crashes in a loop does not ask the authority more often than one that runs (four times an hour at most).
//
// An attempt that fails leaves the present certificate where it is; the next one follows after a minute, then three times as long each time, at most
// six hours, and at most a tenth of what is left of the certificate's life. The tests run against Pebble, the authority's own test server.
package acme
