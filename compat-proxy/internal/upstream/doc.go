// Package upstream sends requests to v1 over kept HTTP/1.1 connections, in the goroutine of whoever asks.
//
// net/http's Transport gives each connection a goroutine that writes and one that reads, and so hands every request over twice. It needs
// them for what we do not do: streams, upgrades, HTTP/2. Here the caller writes the whole request and reads the whole answer by itself,
// which a lone client notices most: nobody has to be woken. What goes over the wire is written and read by net/http all the same.
package upstream
