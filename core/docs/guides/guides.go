// Package guides has the guides for new merchants. The service shows them at /docs/guides/NAME. A
// test of the standalone runs every command and program in them, and compares the responses.
package guides

import "embed"

// Files has each guide, as NAME.md.
//
//go:embed *.md
var Files embed.FS

// Names returns the names of the guides, in the order in which a new merchant reads them.
func Names() []string {
	return []string{
		"first-payment", "browser", "save-a-card", "refunds", "webhooks", "idempotency", "test-values",
		"encryption", "go-live",
	}
}
