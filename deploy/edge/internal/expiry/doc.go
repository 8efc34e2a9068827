// Package expiry raises the alarm before a certificate that is served ends, wherever it came from: once in the log at 30, 14, 7 and 1 days and at its
// end, and as series all the time. 30 days are only a remark, for that is when a certificate of 90 days is renewed; a mark that lies before the time
// of renewal, the last third of a shorter life, is passed over.
package expiry
