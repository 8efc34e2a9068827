// Package attempts bounds the attempts at legacy logins, for each address and for each login at an
// address. Attempts from one address never block a login from another.
package attempts
