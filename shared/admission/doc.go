// Package admission decides which requests a program accepts. A request is carried out in one of a
// fixed number of slots. It holds no slot while its body arrives. Unfinished bodies share a fixed
// number of bytes, and the requests in slots share the memory for their complete bodies. One client
// holds only a part of the slots, of the bytes and of the memory. Test mode leaves a quarter of all
// to live mode. Each body must arrive at a minimum rate, so a client that sends slowly, or whose
// payments hang, does not stop the requests of others.
package admission
