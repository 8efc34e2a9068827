// Package httphop is the HTTP shell around the engine: a hop in front of core. A body in the clear
// streams through it as it is. A body is read whole if it is encrypted or must become so. The
// engine decides, this package carries: no rule of the protocol is here.
package httphop
