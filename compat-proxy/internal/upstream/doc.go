// Package upstream sends requests to v1 over kept HTTP/1.1 connections, in the caller's goroutine.
//
// net/http's Transport gives each connection a goroutine that writes and one that reads, and so
// hands every request over twice. It needs them for streams, upgrades and HTTP/2, which we do not
// use. Here the caller writes the whole request and reads the whole response. A lone client gains
// most: no goroutine has to be woken. The bytes are written and read by net/http here too.
package upstream
