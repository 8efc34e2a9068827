package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// erasedName is a name that no erasure may leave in the store.
const erasedName = "Erika-Mustermann-of-12-Harrow-Road"

// longDetails returns an object that fills several pages.
func longDetails() string {
	return `{"metadata":{"name":"` + strings.Repeat(erasedName+" ", 400) + `"}}`
}

// TestErasedDataLeavesTheFiles erases and removes rows that fill whole pages. None of their bytes
// stays in a file or in a table.
func TestErasedDataLeavesTheFiles(t *testing.T) {
	t.Parallel()
	erase := func(ctx context.Context, s *coretest.Service) error {
		_, err := s.DB.ErasePersonal(ctx, s.Clock.Now(), keptDays, impersonal)
		return err
	}
	for _, c := range []struct {
		name, table, column string
		erase               func(context.Context, *coretest.Service) error
	}{
		{"payments", "transactions", "details", erase},
		{"captures", "captures", "details", erase},
		{"refunds", "refunds", "details", erase},
		{"events", "events", "data", erase},
		{"old events", "events", "data", func(ctx context.Context, s *coretest.Service) error {
			_, err := s.DB.PurgeEvents(ctx, s.Clock.Now(), keptAge/2)
			return err
		}},
		{"stored responses", "idempotency_keys", "body", func(ctx context.Context, s *coretest.Service) error {
			_, err := s.DB.PurgeIdempotencyKeys(ctx, s.Clock.Now())
			return err
		}},
		{"tokens", "tokens", "details", func(ctx context.Context, s *coretest.Service) error {
			return s.Engine.SweepTokens(ctx)
		}},
	} {
		if c.name == "old events" && coretest.Shared() {
			continue // a server drops whole partitions
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			MustPayPersonal(t, s, 8)
			for range 8 {
				if _, err := tokenOf(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			var long any = longDetails()
			if c.column == "body" {
				long = []byte(longDetails())
			}
			s.Database.MustExec(t, "UPDATE "+c.table+" SET "+c.column+" = ?", long)
			if got := s.Number(t, "SELECT COUNT(*) FROM "+c.table); got < 8 {
				t.Fatalf("got %d rows before, want 8 or more", got)
			}
			s.Clock.Advance(keptAge + 24*time.Hour)
			if err := c.erase(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			// The last process that closes a file removes its write-ahead log.
			if err := errors.Join(s.Inspect.Close(), s.DB.Close()); err != nil {
				t.Fatal(err)
			}
			for file, content := range s.Database.Files(t, s.Dir) {
				if n := bytes.Count(content, []byte(erasedName)); n > 0 {
					t.Errorf("%s has the name %d times", file, n)
				}
			}
		})
	}
}
