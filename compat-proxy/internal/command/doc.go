// Package command holds the commands to which every legacy dialect is reduced, and their results.
//
// Decoders build commands from legacy requests. Encoders build legacy responses from results. Both
// are pure. Package executor runs the commands as v1 calls.
package command
