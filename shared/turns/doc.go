// Package turns is a fair scheduler. Callers share a fixed number of slots for their work, and take
// turns. A caller has its next turn after all other callers whose work waits. The waiting work of
// each caller and of all callers is bounded, and so is its wait. The error of work without a turn
// names the reason: the caller's own work, the work of others, or no work that succeeds.
package turns
