// Package standalone has only tests. They start the standalone as a program, and check it from
// outside, like its users.
//
//   - sdkprovidera, sdkproviderb, sdkreadme, sdkwire: the official legacy clients, and the programs
//     that documents have for them.
//   - crash: the program is killed while clients use every command that writes. Package crash
//     judges the result. crash_legacy does so for a legacy client, which has no keys.
//   - replica, lostresponse, lostload: proxies that are separate programs, behind a relay that
//     breaks connections. paylost and followlost do so for each call of a REST payment and its
//     successors, storedkill for each request about a stored customer.
//   - restrpc, restsandbox: the REST dialect through the RPC endpoint, and its clients' own tests.
//   - logins: logins issued and revoked while the proxy runs. storm: concurrent requests with
//     equal keys. drain: a stop with requests in progress.
//   - greeting, readme, guides, docspage, docsexample: every request that the program prints, that
//     a document or a guide contains, or that /docs shows.
//   - mle, hook: JOSE libraries encrypt requests, and the official library verifies each webhook.
//   - refusal, leak: requests that must be refused; card numbers and keys in responses, logs and
//     files.
package standalone
