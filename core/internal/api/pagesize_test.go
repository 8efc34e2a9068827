package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxResponse is the default of mle-filter's max_response, the longest response that it encrypts.
const maxResponse = 1 << 20

// longMetadata returns the longest metadata in JSON, as a member with a leading comma. A control
// character is one of the 500 characters of a value and has six bytes in JSON.
func longMetadata(t *testing.T) string {
	t.Helper()
	all := map[string]string{}
	for i := range 50 {
		all[fmt.Sprintf("%02d%s", i, strings.Repeat("\x01", 38))] = strings.Repeat("\x01", 500)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return `,"metadata":` + string(b)
}

// TestLongPages: a client that reads pages of long items gets each item once, in both directions,
// and each page can be encrypted.
func TestLongPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := longMetadata(t)
	for range 16 {
		b.MustCreate(t, 100, long)
		MustDecode[v1.Customer](t, b.post(t, "/v1/customers", `{"description":"A Payer"`+long+`}`), 201)
	}
	for _, list := range []string{"/v1/transactions", "/v1/customers", "/v1/events"} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			var older, newer []string
			for at, more := "", true; more; at = "&starting_after=" + older[len(older)-1] {
				p := b.longPage(t, list+"?limit=100"+at)
				older, more = append(older, p.ids()...), p.HasMore
			}
			for at, more := older[len(older)-1], true; more; at = newer[0] {
				p := b.longPage(t, list+"?limit=100&ending_before="+at)
				newer, more = append(p.ids(), newer...), p.HasMore
			}
			if n := len(older); n < 16 || !slices.Equal(newer, older[:n-1]) {
				t.Errorf("got %d items, then newer ones: %q, then %q", n, older, newer)
			}
			if sorted := slices.Sorted(slices.Values(older)); len(slices.Compact(sorted)) != len(older) {
				t.Errorf("an item is listed twice: %q", older)
			}
			want := b.longPage(t, list+"?limit=2").ids()
			if !slices.Equal(older[:2], want) {
				t.Errorf("got %q first, want %q", older[:2], want)
			}
		})
	}
}

// longPage reads a page with long items.
func (b *bundle) longPage(t *testing.T, path string) page {
	t.Helper()
	a := b.get(t, path)
	p := MustDecode[page](t, a, 200)
	if len(a.body) > maxResponse || len(p.Data) == 0 {
		t.Fatalf("%s: got %d bytes with %d items, want an item and at most %d bytes", path, len(a.body), len(p.Data), maxResponse)
	}
	return p
}

// TestPageSize: a page has as many items as fit, and at least one.
func TestPageSize(t *testing.T) {
	t.Parallel()
	item := func(n int) string { return strings.Repeat("x", n) }
	const envelope = len(`{"object":"list","data":["",""],"has_more":false}`)
	full := maxResponse - envelope
	for _, c := range []struct {
		rows  []string
		want  []string
		more  bool
		newer bool
	}{
		{rows: nil},
		{rows: []string{"a", item(full - 2)}, want: []string{"a", item(full - 2)}},
		{rows: []string{"a", item(full + 1)}, want: []string{"a"}, more: true},
		{rows: []string{"a", item(full + 1), "b"}, want: []string{"a"}, more: true},
		{rows: []string{item(full + 1), "a"}, want: []string{"a"}, more: true, newer: true},
		{rows: []string{item(2 * full), "a"}, want: []string{item(2 * full)}, more: true},
		{rows: []string{"a", item(2 * full)}, want: []string{item(2 * full)}, more: true, newer: true},
	} {
		p := payment.Page{}
		if c.newer {
			p.Before = 1
		}
		var got struct {
			Object  string   `json:"object"`
			Data    []string `json:"data"`
			HasMore bool     `json:"has_more"`
		}
		if err := json.Unmarshal(api.ShowList(p, c.rows), &got); err != nil {
			t.Fatal(err)
		}
		if got.Object != "list" || !slices.Equal(got.Data, c.want) || got.HasMore != c.more {
			t.Errorf("got %d items more %t, want %d more %t", len(got.Data), got.HasMore, len(c.want), c.more)
		}
	}
}
