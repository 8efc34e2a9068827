// Package attempts bounds how often legacy logins can be tried: for each address, and for each
// login at an address. It keeps no address from a login because of what came from another one.
package attempts
