// Package tlspolicytest compares a listener with the TLS policy, also one that is not ours. It
// sends hellos that offer more than the policy has, and runs testssl.sh as a second opinion.
package tlspolicytest
