// Package program is the frame of our programs: the command line with a configuration file beneath it, the exit code, the log and the traces,
// the listeners, and the end in good order.
//
// A program's main calls Main with its command; the command parses its flags (Flags, Parse, LoadConfig), opens a Frame, opens its parts and
// listeners on it, and waits for its context to end. The Frame then closes them, last opened first.
package program
