// Package enginetest holds what the tests of the engine and of both shells share: keys, messages made by hand, and the cases that must come
// out the same whatever carries them. It is for tests only.
//
// A shell's test makes a World, puts its shell around World.Engine, and gives Run a function that sends a request through it to a core which
// gives a certain reply, and tells what came of it: what reached core, and what the client got. Run does the rest, for every row of the abuse list
// that a shell can see. What is of one transport alone (lying lengths, lost streams, killed processes) is in the tests of that shell.
package enginetest
