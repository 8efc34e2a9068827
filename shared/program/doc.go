// Package program is the frame of our programs. It holds the command line with a configuration file
// beneath it, the exit code, the log and the traces, the listeners, and the orderly end.
//
// A program's main calls Main with its command. The command parses its flags (Flags, Parse,
// LoadConfig) and opens a Frame. It opens its parts and listeners on the Frame, and waits for its
// context to end. The Frame then closes them, last opened first.
package program
