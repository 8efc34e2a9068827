// Package certfile reads certificates with their keys from files, says what is wrong with a pair before anybody is served by it, and watches a folder
// for new ones.
//
// A listener of ours that has two files in its settings needs three calls: Files{chain, key}.Load at the start, whose error says all that is wrong;
// Holder.GetCertificate in its tls.Config; and a Watcher of the same files, whose updates go to Holder.Take.
//
// A pair is refused when clients would refuse it, or when it cannot be told that they would not: Rules lists the causes, code by code. What only
// may be unwise comes back as a warning. Whatever is refused leaves the present pair where it is.
package certfile
