// Package v1client calls v1 for the dialects. It repeats a call while that is safe, and reports what
// the responses prove: whether an attempt may have had an effect, and whether v1 stored a response.
package v1client
