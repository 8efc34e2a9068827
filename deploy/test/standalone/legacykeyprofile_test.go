package standalone_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// profileDocument is a request of provider-a by an API key, as JSON; members follow the login.
func profileDocument(apiKey, method, members string) string {
	return fmt.Sprintf(`{%q:{"merchantAuthentication":{"name":"me","transactionKey":%q},%s}}`, method, apiKey, members)
}

// TestLegacyKeyOfAProfile changes or deletes a profile that was made under an Idempotency-Key. The
// retry gets the first response, and makes nothing.
func TestLegacyKeyOfAProfile(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	for name, change := range map[string]struct{ method, body string }{
		"nothing":      {http.MethodPatch, `{}`},
		"its metadata": {http.MethodPatch, `{"metadata":{"tier":"gold"}}`},
		"its e-mail":   {http.MethodPatch, `{"email":"other@example.org"}`},
		"it is gone":   {http.MethodDelete, ""},
	} {
		document := profileDocument(p.Keys.SKTest, "createCustomerProfileRequest",
			`"profile":{"email":"`+strings.ReplaceAll(name, " ", "-")+`@example.org","paymentProfiles":[`+threeCards+`]}`)
		first := keyedRequest(t, client, p.HTTP, document, name)
		customer, _ := v1Profile(t, readProfile(t, dialectResponse{body: first}))
		if got := m.must(t, change.method, "/v1/customers/"+customer, "", change.body); got.status/100 != 2 {
			t.Fatalf("%s: got %s", name, got.body)
		}
		if again := keyedRequest(t, client, p.HTTP, document, name); again != first {
			t.Errorf("%s: the retry got %s, want %s", name, again, first)
		}
	}
}

// TestLegacyKeyOfAnAddress changes a shipping address under an Idempotency-Key. A retry gets the
// first response and changes nothing, also after the profile was deleted.
func TestLegacyKeyOfAnAddress(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client := patientClient(t)
	of := `"customerProfileId":"` + mustProfile(t, p, "address@example.org", firstPaymentProfile).Customer + `"`
	send := func(method, members, key, want string) string {
		t.Helper()
		got := keyedRequest(t, client, p.HTTP, profileDocument(p.Keys.SKTest, method, of+members), key)
		if !strings.Contains(got, want) {
			t.Errorf("%s under %s: got %s, want %s", method, key, got, want)
		}
		return got
	}
	made := madeAddress.FindString(
		send("createCustomerShippingAddressRequest", `,"address":{"firstName":"Ana"}`, "a", "I00001"))
	change := func(firstName, key, want string) {
		t.Helper()
		send("updateCustomerShippingAddressRequest", `,"address":{"firstName":"`+firstName+`",`+made+`}`, key, want)
	}
	change("Bo", "b", "I00001")
	change("Cy", "b", "E00013")
	change("Di", "c", "I00001")
	change("Bo", "b", "I00001")
	send("getCustomerShippingAddressRequest", ","+made, "d", `"firstName":"Di"`)
	send("deleteCustomerProfileRequest", "", "d", "I00001")
	change("Bo", "b", "I00001")
}

// TestLegacyKeysOfAProfile_atOnce sends equal profiles under several Idempotency-Keys at the same
// time. One request makes the profile, and the others are its duplicates. A retry under each key
// gets the first response of that key.
func TestLegacyKeysOfAProfile_atOnce(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client := patientClient(t)
	for round := range 5 {
		document := profileDocument(p.Keys.SKTest, "createCustomerProfileRequest",
			fmt.Sprintf(`"profile":{"email":"at-once-%d@example.org","paymentProfiles":[%s]}`, round, threeCards))
		send := func(key int) string {
			return keyedRequest(t, client, p.HTTP, document, fmt.Sprint(round, "-", key))
		}
		first, made := make([]string, 4), ""
		var all sync.WaitGroup
		for key := range first {
			all.Go(func() { first[key] = send(key) })
		}
		all.Wait()
		for key, got := range first {
			if strings.Contains(got, `"resultCode":"Ok"`) {
				if made != "" {
					t.Errorf("round %d: two keys made the profile: %s and %s", round, made, got)
				}
				made = got
			}
			if again := send(key); again != got {
				t.Errorf("round %d, key %d: the retry got %s, want %s", round, key, again, got)
			}
		}
		number := readProfile(t, dialectResponse{body: made}).Customer
		for key, got := range first {
			if got != made && (!strings.Contains(got, "E00039") || !strings.Contains(got, number)) {
				t.Errorf("round %d, key %d: got %s, want a duplicate of %s", round, key, got, number)
			}
		}
	}
}

// TestLegacyKeyOfAProfileCharge changes a profile between a payment under an Idempotency-Key and
// its retry. The retry gets the first response. If the API key may not read how the
// Idempotency-Key was used, it gets an uncertain one, and no refusal.
func TestLegacyKeyOfAProfileCharge(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	narrow := mustDecode[struct {
		Secret string `json:"secret"`
	}](t, m.must(t, http.MethodPost, "/v1/api_keys", "",
		`{"kind":"secret","scopes":["payments:authorize","customers:read","compat:use"]}`)).Secret
	for name, change := range profileChanges {
		ids := mustProfile(t, p, strings.ReplaceAll(name, " ", "-")+"@example.org", threeCards)
		customer, methods := v1Profile(t, ids)
		charge := func(apiKey string) string {
			return keyedRequest(t, client, p.HTTP, profileDocument(apiKey, "createTransactionRequest",
				`"transactionRequest":{"transactionType":"authCaptureTransaction","amount":12,"profile":{"customerProfileId":"`+
					ids.Customer+`"}}`), name)
		}
		before := len(m.transactions(t))
		first := charge(narrow)
		changed := strings.NewReplacer(
			"{first}", methods[0], "{second}", methods[1], "{strange}", methods[2], "{address}", v1Address(t, ids))
		path := "/v1/customers/" + customer + changed.Replace(change.path)
		if got := m.must(t, change.method, path, "", changed.Replace(change.body)); got.status/100 != 2 {
			t.Fatalf("%s: got %s", name, got.body)
		}
		if again := charge(narrow); again != first && !strings.Contains(again, `"errorCode":"19"`) {
			t.Errorf("%s: the retry got %s, want %s or an uncertain response", name, again, first)
		}
		if wide := charge(p.Keys.SKTest); wide != first {
			t.Errorf("%s: the retry by the full key got %s, want %s", name, wide, first)
		}
		if got := len(m.transactions(t)) - before; got != 1 {
			t.Errorf("%s: got %d payments, want 1", name, got)
		}
	}
}
