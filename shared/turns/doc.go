// Package turns is a fair scheduler. Callers share a fixed number of slots for their work, and take
// turns: a caller has its next turn after all other callers whose work waits. The work that waits
// is bounded, for each caller and for all, and so is its wait. The error of work without a turn
// names the reason: the caller's own work, the work of others, or that no work succeeds.
package turns
