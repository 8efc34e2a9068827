// Package httphop is the HTTP shell around the engine: a hop in front of core. It streams bodies in
// the clear. It reads a body whole if it is encrypted or must become so. The engine makes all
// decisions: no rule of the protocol is here.
package httphop
