package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// strange is a key of metadata with characters that mean something in JSON, in a JSON path, in a
// query string or in SQL.
const strange = `a"b'c.d[e]=&%$\\`

// TestListsByMetadata: each list of objects with metadata selects by the entries in its query
// string.
func TestListsByMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entries := []string{
		`{"order":"1042","shop":"vienna"}`, `{"order":"1042","shop":"graz"}`, `{"order":"10"}`, `{"shop":"vienna","empty":""}`,
		`{"` + strings.NewReplacer(`\\`, `\\\\`, `"`, `\"`).Replace(strange) + `":"x"}`, `{}`,
	}
	want := map[string][]int{ // the entries that match, newest first
		"metadata[order]=1042":                         {1, 0},
		"metadata[order]=1042&metadata[shop]=vienna":   {0},
		"metadata[order]=104":                          {},
		"metadata[Order]=1042":                         {},
		"metadata[empty]=":                             {3},
		"metadata[order]=":                             {},
		"metadata[shop]=vienna&limit=1":                {3},
		"metadata[" + url.QueryEscape(strange) + "]=x": {4},
		"": {5, 4, 3, 2, 1, 0},
	}
	customer, paid := b.mustCustomer(t), b.MustCreate(t, 100, manual).ID
	for list, makeOne := range b.makers(customer, paid) {
		ids := []string{}
		for _, m := range entries {
			ids = append(ids, makeOne(t, `,"metadata":`+m))
		}
		for _, also := range alsoBy(list, paid) {
			for query, matching := range want {
				b.wantListed(t, also+query, ids, matching)
			}
		}
	}
}

// makers returns functions that make an object with metadata, by the list that shows it. They
// return its id. Captures are of paid, and payment methods of the customer.
func (b *bundle) makers(customer, paid string) map[string]func(t *testing.T, metadata string) string {
	return map[string]func(*testing.T, string) string{
		"/v1/transactions": func(t *testing.T, m string) string { t.Helper(); return b.MustCreate(t, 100, m+`,"reference":"r"`).ID },
		"/v1/transactions/" + paid + "/captures": func(t *testing.T, m string) string {
			t.Helper()
			return MustDecode[v1.Capture](t, b.capture(t, paid, `{"amount":10`+m+`}`), 201).ID
		},
		"/v1/refunds": func(t *testing.T, m string) string {
			t.Helper()
			return MustDecode[v1.Refund](t, b.refund(t, b.MustCreate(t, 100, "").ID, `,"amount":1`+m), 201).ID
		},
		"/v1/customers": func(t *testing.T, m string) string {
			t.Helper()
			return b.MustCustomer(t, `{"reference":"r","email":"e"`+m+`}`).ID
		},
		"/v1/customers/" + customer + "/payment_methods": func(t *testing.T, m string) string {
			t.Helper()
			body := `{"token":"` + b.MustToken(t, visa).Value.Reveal() + `"` + m + `}`
			return MustDecode[v1.PaymentMethod](t, b.post(t, "/v1/customers/"+customer+"/payment_methods", body), 201).ID
		},
		"/v1/webhook_endpoints": func(t *testing.T, m string) string {
			t.Helper()
			body := `{"url":"https://hooks.example.com/","enabled_events":["*"]` + m + `}`
			return MustDecode[v1.WebhookEndpoint](t, b.post(t, "/v1/webhook_endpoints", body), 201).ID
		},
	}
}

// alsoBy returns the beginnings of the query strings by which a list finds the same objects.
func alsoBy(list, paid string) []string {
	out := []string{list + "?"}
	switch {
	case list == "/v1/transactions":
		return []string{list + "?reference=r&", list + "?status=captured&reference=r&", list + "?amount=100&reference=r&"}
	case list == "/v1/customers":
		return []string{list + "?reference=r&", list + "?email=e&", list + "?email=e&reference=r&"}
	case strings.HasSuffix(list, "/captures"):
		return append(out, "/v1/captures?transaction="+paid+"&")
	}
	return out
}

// wantListed checks a list against the matching ones of ids.
func (b *bundle) wantListed(t *testing.T, list string, ids []string, matching []int) {
	t.Helper()
	want := []string{}
	for _, i := range matching {
		want = append(want, ids[i])
	}
	got := MustDecode[page](t, b.get(t, list), 200)
	if !slices.Equal(got.ids(), want) {
		t.Errorf("%s: got %v, want %v of %v", list, got.ids(), want, ids)
	}
}

func TestMetadataFilterRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustCreate(t, 100, "")
	bad := func(code, param string) refusal { return refusal{400, v1.ErrorTypeInvalidRequestError, code, param} }
	six := ""
	for i := range 6 {
		six += fmt.Sprintf("&metadata[k%d]=v", i)
	}
	for query, want := range map[string]refusal{
		"metadata=x":                  bad("invalid_value", "metadata"),
		"metadata.k=x":                bad("invalid_value", "metadata"),
		"metadata[k=x":                bad("invalid_value", "metadata"),
		"metadata[]=x":                bad("invalid_value", "metadata"),
		"metadata[k]=x&metadata[k]=y": bad("invalid_value", "metadata"),
		"metadata[k]=%00":             bad("invalid_value", "metadata"),
		"metadata[%00]=x":             bad("invalid_value", "metadata"),
		"metadatum[k]=x":              bad("unknown_parameter", "metadatum[k]"),
		"metadata[" + strings.Repeat("k", 41) + "]=x": bad("invalid_value", "metadata"),
		"metadata[k]=" + strings.Repeat("x", 501):     bad("invalid_value", "metadata"),
		six[1:]: bad("invalid_value", "metadata"),
	} {
		wantRefusal(t, b.get(t, "/v1/transactions?"+query), want)
	}
	wantRefusal(t, b.get(t, "/v1/events?metadata[k]=x"), bad("unknown_parameter", "metadata"))
}
