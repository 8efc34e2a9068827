// Package devca keeps a development certificate authority in a folder, and with it the server certificate of this machine.
//
// The authority is made once and kept, so that a person trusts it once. The server certificate is made again when it comes close to
// its end or does not name a host it should, at a start and, by a Source, while the program runs. None of it is meant to leave the machine.
package devca
