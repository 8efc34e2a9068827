// Package attempts bounds how often legacy logins can be tried: for each address, and for each
// login at an address. Attempts from one address never block a login from another.
package attempts
