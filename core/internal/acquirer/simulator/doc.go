// Package simulator is the acquirer of test mode. It moves no money, and its outcomes are the same
// every time. A catalogue of cards and rules sets them (configs/simulator.yaml, embedded as
// default.yaml).
//
// The simulator records every effect by its reference, as a real acquirer does. A repeated request
// gets the first response again, and Inquire finds it, also after the process was killed. The
// recording is bounded:
//
//   - Memory holds two generations of 25,000 references. When the younger is full, the older is
//     dropped. A dropped reference counts as never seen.
//   - The journal is two files of about 8 MiB: the path given to Open, and that path with ".1"
//     appended. Each effect is one line, which the operating system has before the response is
//     sent. So it survives the death of every process. No line is fsynced: it does not survive a
//     power cut. It holds references, responses and amounts, never a card number or CVC. Several
//     processes of one machine may share it, on a file system with flock: they are then one
//     acquirer. Without a journal, the recording is in memory only, which is for unit tests.
//
// When an effect happens:
//
//   - slow: at the end of the delay. If the caller's context ends before, the caller gets
//     ErrUnknown, and there is no effect.
//   - timeout_before: never. The caller gets ErrUnknown once its context or the delay ends.
//   - timeout_after: immediately, but the caller gets ErrUnknown as above. Inquire, or a repeated
//     request, returns the outcome.
//   - late: the caller gets ErrUnknown as above. After effect_ms on the clock the request has its
//     effect, even if it was voided meanwhile. Before that, Inquire does not find it. A void after
//     that releases it, and Inquire shows it.
//   - unavailable: never, and the caller gets ErrUnavailable.
//
// A void is also recorded for the request that it names. If that request arrives later, it is
// declined, and a voided authorization can no longer be captured. Steps on an unknown authorization
// are approved: the engine, not the acquirer, checks the amounts.
package simulator
