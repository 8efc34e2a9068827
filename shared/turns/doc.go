// Package turns is a fair scheduler. Callers share a fixed number of slots for their work, and take
// turns. A caller has its next turn after all other callers whose work waits. The waiting work of
// each caller and of all callers is bounded, and so is the time that it waits. If work gets no
// turn, the error names the reason: the caller's own work, the work of others, or that no work
// succeeds.
package turns
