// Package account serves live mode by the merchants' accounts at acquirers. It opens the connector
// of an account from its stored settings and credentials. A change of an account takes effect in
// every core within a second.
package account
