// Package admission decides which requests a program accepts. A request is carried out in one of a
// fixed number of slots. It holds no slot while its body arrives. Unfinished bodies share a fixed
// number of bytes, of which one client may hold a part only, and each body must arrive at a minimum
// rate. So no client can refuse the requests of others by sending its own slowly.
package admission
