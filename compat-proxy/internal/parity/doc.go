// Package parity has the rules by which a provider's public sandbox differs from its production
// system. They apply to sandbox logins in test mode alone. No rule moves money that v1 does not
// show.
package parity
