package coretest

import (
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/operator"
)

// MustCreateMerchant creates a merchant and returns its id.
func MustCreateMerchant(tb testing.TB, a *admin.Admin) string {
	tb.Helper()
	m, err := a.CreateMerchant(tb.Context(), "Test shop")
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// MustCreateKey creates an API key and returns it in the clear.
func MustCreateKey(tb testing.TB, a *admin.Admin, s admin.KeySpec) string {
	tb.Helper()
	k, err := a.CreateKey(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return k.Reveal()
}

// MustAuditRecords returns all audit records, oldest first.
func MustAuditRecords(tb testing.TB, a *admin.Admin) []operator.AuditRecord {
	tb.Helper()
	found, err := a.AuditRecords(tb.Context(), 0, 10_000)
	if err != nil {
		tb.Fatal(err)
	}
	slices.Reverse(found)
	return found
}
