// Package simulator is the acquirer of test mode: it moves no money, answers the same way every time, and takes all it knows
// from a catalogue of cards and rules (configs/simulator.yaml, embedded as default.yaml).
//
// Like a real acquirer it does not forget. Every effect is remembered by its reference, so a repeated request hears the first answer
// again and Inquire finds it, also after the process was killed. What it remembers is bounded:
//
//   - Memory holds two generations of 25,000 references; when the younger is full the older is dropped. A reference that was dropped
//     counts as never seen.
//   - The journal is two files of about 8 MiB: the path given to Open and the same with ".1" behind
//     it. Each effect is one line, which the operating system has before the response is sent. So it
//     survives the death of every process. Nothing is fsynced, so it does not survive a power cut.
//     It holds references, responses and amounts, never a card number or CVC. Several processes of
//     one machine may share it, on a file system with flock: they are then one acquirer. Without a
//     journal, only memory remembers, which is for unit tests.
//
// When an effect happens:
//
//   - slow: at the end of the delay. A caller that leaves before hears ErrUnknown, and nothing has happened.
//   - timeout_before: never. The caller hears ErrUnknown once its context or the delay ends.
//   - timeout_after: at once, but the caller hears ErrUnknown as above. Only Inquire, or the same request again, tells.
//   - late: the caller hears ErrUnknown as above, and nobody knows of the request until effect_ms have passed on the clock; then it has its
//     effect, whatever was voided meanwhile. A void after that releases it, as Inquire tells.
//   - unavailable: never, and ErrUnavailable says so.
//
// A void is remembered for the request it voids too. If that request has not reached the simulator it is declined when it does, and an authorization that was voided can
// no longer be captured. Steps on an authorization that the simulator does not know are approved: the engine, not the
// acquirer, holds the truth on amounts.
package simulator
