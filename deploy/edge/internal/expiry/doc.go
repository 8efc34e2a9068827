// Package expiry warns before a served certificate ends, from any source. It logs once at 30, 14, 7
// and 1 days and at the end, and always exports series. The mark at 30 days is informational: at
// that time a certificate of 90 days is normally renewed. A mark before the time of renewal, the
// last third of a shorter life, is skipped.
package expiry
