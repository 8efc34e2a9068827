// Package batch merges concurrent calls into batches, so that many calls share one expensive
// operation, such as a commit. While a batch is under way the next one collects. So a lone call
// waits for no other, and batches grow with the load.
package batch
