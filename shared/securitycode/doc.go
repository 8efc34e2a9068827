// Package securitycode leaves security codes out of JSON texts before a value is derived from them.
// A hash of a text that holds a code confirms a guess of the code, and there are 1,000 to try. No
// such value may be kept after authorization, not even one that a key protects.
package securitycode
