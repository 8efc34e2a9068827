// Package wire reads and writes the JSON of the provider-b dialect. It reads requests leniently
// (key case, scalars of any kind, unknown keys). It writes responses strictly (no nulls, strings
// where clients expect strings). It handles shapes, not meanings.
package wire
