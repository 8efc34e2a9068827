// Package wire reads and writes the JSON of the provider-b dialect: requests leniently (key case, scalars of any kind, unknown keys), answers
// strictly (no nulls, strings where clients want strings). It knows shapes, not meanings.
package wire
