// Package batch merges concurrent calls into batches, so that many calls share one expensive
// operation, such as a commit. While a batch is under way the next one collects, so a lone call
// waits for no other, and batches grow with the load. Callers take turns in each batch,
// so a caller with many calls, or with costly ones, does not delay the others.
package batch
