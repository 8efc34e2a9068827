// Package standalone has no code: its tests start the standalone as a program, and look at it from
// outside, as its users do.
//
//   - sdkprovidera, sdkproviderb, sdkreadme, sdkwire: the official legacy clients, and the programs
//     that documents have for them.
//   - crash: the program is killed while clients use every command that writes. Package crash
//     judges the result. crash_legacy does so for a legacy client, which has no keys.
//   - replica, lostanswer, lostload: proxies that are separate programs, behind a relay that breaks
//     connections. paylost and followlost do so for each call of a REST payment and its successors.
//   - restrpc, restsandbox: the REST dialect through the RPC endpoint, and its clients' own tests.
//   - logins: logins issued and revoked beside a running program. storm: equal keys at once.
//     drain: a stop with requests under way.
//   - greeting, readme, docspage, docsexample: every request that the program prints, that stands
//     in a document, or that /docs shows.
//   - mle, hook: JOSE libraries encrypt requests, and the official library verifies each webhook.
//   - refusal, leak: requests that must be refused; card numbers and keys in responses, logs and
//     files.
package standalone
