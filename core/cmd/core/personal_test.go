package main

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestPersonalDataDue lists the personal data past its period, for merchants with a period and
// without one, on both engines.
func TestPersonalDataDue(t *testing.T) {
	t.Setenv("CAUSEWAY_VAULT_KEK", base64.StdEncoding.EncodeToString(make([]byte, 32))) // PostgreSQL needs one
	for engine, store := range map[string]func(testing.TB) string{"SQLite": func(testing.TB) string { return "" }, "PostgreSQL": pgtest.Schema} {
		t.Run(engine, func(t *testing.T) {
			at := []string{"--data", t.TempDir(), "--store", store(t)}
			shop := MustPrint(t, append([]string{"merchants", "create", "Shop"}, at...)...)
			other := MustPrint(t, append([]string{"merchants", "create", "Other"}, at...)...)
			then := clock.System().Now().UTC().Truncate(time.Second).AddDate(0, 0, -90)
			mustFill(t, at, then, map[string]int{shop: 2, other: 1})
			due := func(more ...string) []string {
				t.Helper()
				code, stdout, stderr := run(t, append(append([]string{"personal-data", "due"}, at...), more...)...)
				lines := strings.Split(strings.TrimSpace(stdout), "\n")
				for i := range lines {
					lines[i] = strings.Join(strings.Fields(lines[i]), " ")
				}
				if code != 0 || stderr != "" || lines[0] != "merchant mode kind rows oldest" {
					t.Fatalf("got %d, %q, %s", code, lines, stderr)
				}
				return lines[1:]
			}
			line := func(merchant, mode, kind, rows string) string {
				return strings.Join([]string{merchant, mode, kind, rows, then.Format(time.RFC3339)}, " ")
			}
			ofShop := []string{line(shop, "test", "transactions", "2"), line(shop, "live", "refunds", "1")}
			ofOther := []string{line(other, "test", "transactions", "1"), line(other, "live", "refunds", "1")}
			want := func(got, want []string) {
				t.Helper()
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			want(due(), nil)
			want(due("--keep-personal-data", "91"), nil)
			want(due("--keep-personal-data", "89"), slices.Concat(ofShop, ofOther))
			if code, _, stderr := run(t, append([]string{"merchants", "update", shop, "--keep-personal-data", "60"}, at...)...); code != 0 {
				t.Fatalf("update: got %d %s", code, stderr)
			}
			want(due(), ofShop)
			want(due("--keep-personal-data", "91"), ofShop)
			for _, wrong := range [][]string{{"personal-data"}, {"personal-data", "erase"}, {"personal-data", "due", "--keep-personal-data", "59"}} {
				if code, _, stderr := run(t, append(wrong, at...)...); code != 2 || stderr == "" {
					t.Errorf("%v: got %d, %q, want 2", wrong, code, stderr)
				}
			}
		})
	}
}

// mustFill writes transactions with an earlier time: the given number for each merchant, and one
// refund in live mode for each merchant. A service on PostgreSQL cannot run with an earlier clock.
func mustFill(t *testing.T, at []string, then time.Time, transactions map[string]int) {
	t.Helper()
	driver, source := "pgx", at[3]
	if source == "" {
		driver, source = "sqlite", "file:"+at[1]+"/causeway.db"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // each statement has reported
	ids := id.NewGenerator(clock.NewFake(then))
	for merchant, n := range transactions {
		number, err := id.Parse(id.Merchant, merchant)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			mustWrite(t, db, fmt.Sprintf(`INSERT INTO transactions (id, status, merchant_id, live, auto_capture, amount, currency, payment_method,
				details, created_at, updated_at) VALUES (%d, 'declined', %d, 0, 1, 500, 'usd', 'card', '{}', 1, 1)`, ids.Next(), number))
		}
		mustWrite(t, db, fmt.Sprintf(`INSERT INTO refunds (id, merchant_id, live, state, amount, currency, created_at, updated_at)
			VALUES (%d, %d, 1, 'succeeded', 500, 'usd', 1, 1)`, ids.Next(), number))
	}
}

func mustWrite(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
