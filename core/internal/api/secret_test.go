package api_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// planted are card numbers with valid check digits that do not occur in the code or the catalogue.
func planted() []string {
	return []string{"4539578763621486", "5425233430109903", "374245455400126", "6011556448578945"}
}

// plantedCVC is four digits. Chance could produce them, so tests look for a CVC with its JSON
// quotes.
const plantedCVC = "7351"

// endings complete a create with a card, correctly and incorrectly.
func endings() []string {
	return []string{
		"}", `,"capture":"manual"}`, `,"nonsense":1}`, `,"metadata":{"a":1}}`, `,"amount":2}`, "", "}}", `,"currency":"xxx"}`,
		`,"description":"` + "\xff" + `"}`,
	}
}

// TestSecretsAreNowhere sends card numbers, CVCs and keys in every kind of request, also in refused
// and malformed ones. Then it looks for them in everything that the service has written or logged.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	b, spans := setupTraced(t)
	var responses bytes.Buffer
	send := func(path, body string, options ...option) {
		a := b.post(t, path, body, options...)
		fmt.Fprintln(&responses, a.header, string(a.body))
	}
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	keys := []string{b.key, live, strangeKey(t)}
	for i, number := range planted() {
		cvc := plantedCVC[:3]
		if number[0] == '3' {
			cvc = plantedCVC
		}
		card := `{"number":"` + number + `","exp_month":12,"exp_year":2030,"cvc":"` + cvc + `"}`
		body := `{"amount":1,"currency":"usd","payment_method":"card","card":` + card
		for _, rest := range endings() {
			for j, key := range keys {
				send("/v1/transactions", body+rest, as(key), keyed(fmt.Sprint(i, rest, j)))
				send("/v1/transactions", body+rest, as(key), keyed(fmt.Sprint(i, rest, j)))
			}
		}
		for _, wrong := range []string{
			`{"number":"` + number[:len(number)-1] + `","exp_month":12,"exp_year":2030}`, `{"number":` + number + `}`, `{"number":["` + number + `"]}`,
			`{"number":"` + number + `","exp_month":12,"exp_year":2020,"cvc":"` + cvc + `"}`, `"` + number + `"`, `{"cvc":` + cvc + `,"number":"` + number + `"}`,
			`{"number":"` + number + `","exp_month":"` + number + `"}`,
		} {
			send("/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","card":`+wrong+`}`)
		}
		send("/v1/transactions", number)
		send("/v1/transactions/"+number+"/captures", `{"amount":`+number+`}`)
		send("/v1/transactions/"+number+"/"+number, "{}")
		send("/v1/refunds", `{"transaction":"`+number+`"}`)
		for _, a := range []response{b.get(t, "/v1/transactions?limit="+number), b.get(t, "/v1/captures/"+number), b.get(t, "/v1/transactions", as(number))} {
			fmt.Fprintln(&responses, a.header, string(a.body))
		}
	}
	for _, txn := range MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?limit=100"), 200).Data {
		send("/v1/transactions/"+txn.ID+"/captures", "")
		send("/v1/refunds", `{"transaction":"`+txn.ID+`"}`)
	}
	places := b.database.Files(t, b.dir) // while it runs, so that the write-ahead log is there
	if _, ok := places[filepath.Join(b.dir, "causeway.db-wal")]; !ok && !coretest.Shared() {
		t.Error("there is no write-ahead log to look into")
	}
	places["the responses"], places["the log"] = responses.Bytes(), []byte(b.logs.String())
	wantNowhere(t, places, keys)
	b.stop(t)
	wantNowhere(t, b.database.Files(t, b.dir), keys)
	wantNowhere(t, map[string][]byte{"the spans": spans.all(t)}, keys)
	b.start(t)
}

// wantNowhere looks for everything planted. Of a key it searches only the part after the prefix.
func wantNowhere(t *testing.T, places map[string][]byte, keys []string) {
	t.Helper()
	var secrets []string
	for _, number := range planted() {
		secrets = append(secrets, number, number[:len(number)-1], number[:4]+" "+number[4:8], number[6:])
	}
	for _, key := range keys {
		secrets = append(secrets, strings.TrimLeft(key[8:], "0")[:20])
	}
	secrets = append(secrets, `"`+plantedCVC+`"`, `"`+plantedCVC[:3]+`"`, `cvc":`+plantedCVC[:3], `"cvc":"`+plantedCVC[:3])
	for place, text := range places {
		for _, s := range secrets {
			if i := bytes.Index(text, []byte(s)); i >= 0 {
				t.Errorf("%s: found %q: …%s…", place, s, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
}

// TestDataFolderIsPrivate: only the owner may read the files of the folder.
