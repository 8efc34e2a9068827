// Package securitycode removes security codes from JSON texts before a value is derived from them.
// A hash of a text with a code would confirm a guess of the code, and there are only 1,000 codes.
// No such value may be kept after authorization, not even a value that a key protects.
package securitycode
