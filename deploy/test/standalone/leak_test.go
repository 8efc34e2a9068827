package standalone_test

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
)

// The card numbers that TestNothingLeaks plants: an approved one, and one with a wrong check digit.
const (
	plantedCard    = "4539578763621486"
	plantedBadCard = "4539578763621487"
)

// plant sends the card through v1 and the legacy endpoints, in valid requests and in requests that
// are refused at each stage. It returns the responses by name.
func plant(t *testing.T, p *process) map[string]string {
	t.Helper()
	m := merchantOf(t, p)
	got := map[string]string{}
	card := func(number, more string) string {
		return `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":` + number +
			`,"exp_month":4,"exp_year":2031,"cvc":"900"` + more + `}`
	}
	for name, body := range map[string]string{
		"v1 approved":      card(`"`+plantedCard+`"`, "") + "}",
		"v1 check digit":   card(`"`+plantedBadCard+`"`, "") + "}",
		"v1 a number":      card(plantedCard, "") + "}",
		"v1 unknown field": card(`"`+plantedCard+`"`, "") + `,"pan":"` + plantedCard + `"}`,
		"v1 twice":         card(`"`+plantedCard+`"`, `,"number":"`+plantedCard+`"`) + "}",
		"v1 cut off":       card(`"`+plantedCard+`"`, ""),
		"v1 wrong place":   `{"amount":100,"currency":"` + plantedCard + `","payment_method":"` + plantedCard + `"}`,
	} {
		got[name] = m.must(t, http.MethodPost, "/v1/transactions", "", body).body
	}
	got["v1 path"] = m.must(t, http.MethodGet, "/v1/transactions/"+plantedCard, "", "").body
	got["v1 query"] = m.must(t, http.MethodGet, "/v1/transactions?starting_after="+plantedCard, "", "").body
	got["v1 key"] = (&merchant{base: m.base, key: "sk_test_" + plantedCard, http: m.http}).
		must(t, http.MethodGet, "/v1/transactions", "", "").body
	sale := strings.ReplaceAll(saleXML(p, "5.00"), "4111111111111111", plantedCard)
	for name, body := range map[string]string{
		"legacy approved":        sale,
		"legacy check digit":     strings.ReplaceAll(sale, plantedCard, plantedBadCard),
		"legacy unknown element": strings.ReplaceAll(sale, "cardNumber>", "pan>"),
		"legacy wrong place":     strings.Replace(sale, "5.00", plantedCard+"x", 1),
		"legacy wrong key":       strings.Replace(sale, p.ProviderA.TransactionKey, plantedCard, 1),
		"legacy cut off":         sale[:len(sale)-40],
		"legacy doctype": strings.Replace(sale, "<createTransactionRequest",
			`<!DOCTYPE x [<!ENTITY n "`+plantedCard+`">]><createTransactionRequest`, 1),
		"legacy json":         `{"createTransactionRequest":{"cardNumber":"` + plantedCard + `"`,
		"legacy unknown root": `<card` + plantedCard + ` xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"/>`,
	} {
		got[name] = postLegacy(t, m, p, body)
	}
	return got
}

func postLegacy(t *testing.T, m *merchant, p *process, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/compat/provider-a/xml",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := m.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // read to its end
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := telemetrytest.New(t)
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_BSP_SCHEDULE_DELAY=1"}, dir, "--log", "info")
	responses := plant(t, p)
	for _, name := range []string{"v1 approved", "legacy approved"} { // otherwise the test proves nothing
		if !strings.Contains(responses[name], `"captured"`) &&
			!strings.Contains(responses[name], "<responseCode>1</responseCode>") {
			t.Errorf("%s: %s", name, responses[name])
		}
	}
	programtest.WaitFor(t, "the spans have come", func() bool {
		return len(to.Named("POST /compat/provider-a/xml")) > 0 && len(to.Named("acquirer authorize")) > 1
	})
	p.Kill() // the write-ahead log stays
	for name, response := range responses {
		checkAbsent(t, "the response to "+name, response, plantedCard, plantedBadCard)
	}
	secrets := []string{
		p.Keys.SKTest, p.Keys.PKTest, p.Keys.SKLive, p.Keys.PKLive, p.ProviderA.TransactionKey, p.ProviderB.SharedSecret,
		p.ProviderB.P12Password,
	}
	checkAbsent(t, "the log", p.Log.String(), append(secrets, plantedCard, plantedBadCard)...)
	checkAbsent(t, "the spans", string(to.Bytes()), append(secrets, plantedCard, plantedBadCard, p.ProviderA.Name)...)
	stored := 0 // files of core
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		checkAbsent(t, entry.Name(), string(data), plantedCard, plantedBadCard)
		if filepath.Base(filepath.Dir(path)) == "core" { // the folder itself has the credentials files, on purpose
			stored++
			checkAbsent(t, entry.Name(), string(data), secrets...)
		}
		return err
	})
	if err != nil || stored < 3 {
		t.Errorf("%d files of core were searched: %v", stored, err)
	}
}

// checkAbsent checks that a text contains none of the words.
func checkAbsent(t *testing.T, where, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if at := strings.Index(text, word); at >= 0 {
			t.Errorf("%s holds a secret, after %q", where, text[max(0, at-80):at])
		}
	}
}
