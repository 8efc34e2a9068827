// Package enginetest holds the shared parts of the tests of the engine and of both shells. They are
// keys, forged messages, and cases with the same outcome over every transport.
//
// A shell's test makes a World and puts its shell around World.Engine. Then it gives Run a
// function. The function sends a request through the shell to a core with a given response. It
// returns the request at core, and the response to the client. Run does this for every row of the
// abuse list that a shell can see. The tests of each shell add the cases of its transport: wrong
// lengths, lost streams and killed processes.
package enginetest
