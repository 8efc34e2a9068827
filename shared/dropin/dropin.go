package dropin

import (
	"slices"
	"strings"
)

// PathA is the only path of provider-a. Some clients add a slash.
const PathA = "/xml/v1/request.api"

// familiesB are the first segments of the paths of provider-b's APIs.
var familiesB = []string{
	"accountupdater", "acp", "bavs", "bin", "boarding", "dms", "flex", "icc", "invoicing", "ipl", "kms",
	"merchant-mgmt", "microform", "notification-subscriptions", "nrtf", "oauth2", "pts", "rbs", "reporting", "risk",
	"sfs", "tms", "tss", "uc", "ums", "unifiedrisk", "up", "vas",
}

// FamiliesB returns the first segments of the paths of provider-b's APIs, sorted.
func FamiliesB() []string { return slices.Clone(familiesB) }

// IsA reports whether a path is provider-a's.
func IsA(path string) bool { return strings.TrimSuffix(path, "/") == PathA }

// IsB reports whether a path is one of provider-b's families, or below one. Its dialect responds to
// all of them, because a client cannot read v1's errors. Few of the paths have an operation.
func IsB(path string) bool {
	rest, rooted := strings.CutPrefix(path, "/")
	family, _, _ := strings.Cut(rest, "/")
	return rooted && slices.Contains(familiesB, family)
}
