// Package tlspolicytest compares any listener with the TLS policy. It sends hellos that offer more
// than the policy allows, and runs testssl.sh as a second check.
package tlspolicytest
