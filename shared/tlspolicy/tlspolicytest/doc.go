// Package tlspolicytest holds a listener against the TLS policy, whoever made it: by hellos that offer what the policy leaves out, and by testssl.sh,
// which is another's opinion.
package tlspolicytest
