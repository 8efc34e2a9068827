// Package certfile reads certificates with their keys from files. It reports all faults of a pair
// before a listener serves it, and watches a folder for new ones.
//
// A listener of ours that has two files in its settings needs three calls. Files{chain, key}.Load
// at the start returns an error with all faults. Holder.GetCertificate goes into its tls.Config. A
// Watcher watches the same files, and sends its updates to Holder.Take.
//
// A pair is refused if clients would refuse it, or if that cannot be excluded. Rules lists the
// causes, code by code. A fault that may only be unwise is a warning. After a refusal the listener
// keeps the present pair.
package certfile
