package dropin

import (
	"slices"
	"strings"
)

// PathA is the only path of provider-a. Some clients add a slash.
const PathA = "/xml/v1/request.api"

// familiesB are the first segments of the paths of provider-b's APIs.
var familiesB = []string{
	"accountupdater", "bavs", "bin", "boarding", "dms", "flex", "icc", "invoicing", "ipl", "kms", "microform",
	"notification-subscriptions", "oauth2", "pts", "rbs", "reporting", "risk", "sfs", "tms", "tss", "uc", "ums", "up",
	"vas",
}

// FamiliesB returns the first segments of the paths of provider-b's APIs, sorted.
func FamiliesB() []string { return slices.Clone(familiesB) }

// IsA reports whether a path is provider-a's.
func IsA(path string) bool { return strings.TrimSuffix(path, "/") == PathA }

// IsB reports whether a path is below one of provider-b's families. Its dialect responds to all of
// them, because a client cannot read v1's errors. Few of the paths have an operation.
func IsB(path string) bool {
	family, _, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return below && slices.Contains(familiesB, family)
}
