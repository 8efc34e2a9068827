// Package specification tests each statement of the interface specification that a client can
// check on a running standalone. Each test row quotes its statement, so that a reader of the
// specification finds the test by its words.
//
// Other packages test statements that need more than a client of one program:
//   - times of 24 hours, and the notice of 12 months before encryption is required: core's package
//     api, with a clock that the test sets
//   - the rotation of certificates: the packages standalone and edge
//   - mle_required: mle-filter
package specification
