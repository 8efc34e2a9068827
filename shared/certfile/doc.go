// Package certfile reads certificates with their keys from files. It reports all faults of a pair
// before a listener serves it, and watches a folder for new ones.
//
// A listener with two files in its settings creates a Watcher for them. At the start, Watcher.Load
// returns the pair, or an error with all faults. Holder.GetCertificate goes into its tls.Config,
// and Watcher.Run sends updates to Holder.Take.
//
// A pair is rejected if clients would reject it, or might reject it. Code lists the causes. Faults
// that clients accept are warnings. After a refusal the listener keeps the current pair.
package certfile
