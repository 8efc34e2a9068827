// Package devca maintains a development certificate authority in a folder, with a server
// certificate of this machine.
//
// The authority is kept, so a person seldom has to trust another one. The server certificate is
// replaced when it is close to its end or lacks a host. That happens at a start and, with a Source,
// while the program runs. Keep all of it on this machine.
package devca
