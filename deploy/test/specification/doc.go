// Package specification tests each statement of the interface specification that a client can
// check on a running standalone. Each test row quotes its statement, so that a reader of the
// specification finds the test by its words.
//
// Statements about time (24 hours) need a clock that a test sets: they are in core's package api.
// What a client of one program cannot see is tested where it happens: the rotation of certificates
// in the packages standalone and edge, required encryption (mle_required) in mle-filter, and its
// notice of 12 months in core's command mle.
package specification
