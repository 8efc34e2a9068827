// Package engine carries out what v1 asks for, one verb a file.
//
// Every verb that moves money has the same three beats. Intent: one commit claims the idempotency key and makes the wish durable.
// Call: the acquirer is asked, outside any store transaction. Outcome: one commit holds the change, its event and the stored answer.
// A process that dies between the beats leaves an open intent, and recovery finishes it by asking the acquirer; it never guesses.
package engine
