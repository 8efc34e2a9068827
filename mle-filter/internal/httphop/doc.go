// Package httphop is the HTTP shell around the engine: a hop in front of core. What is not encrypted streams through it as it is; a body
// that is, or is to be, is read whole. The engine decides, this package carries: no rule of the protocol is here.
package httphop
