package standalone_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// inbox records the webhooks that it gets.
type inbox struct {
	*httptest.Server

	mu  sync.Mutex
	got bytes.Buffer // guarded by mu
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	r := &inbox{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body) // a broken request is repeated
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got.Write(append(body, '\n'))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *inbox) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.String()
}

// cardTexts sends card numbers in texts, each number once.
type cardTexts struct {
	*process

	m       *merchant
	http    *http.Client
	planted map[string]string // where each number was sent
}

// number returns a new card number for a text.
func (s *cardTexts) number(where string) string {
	for digit := range 10 {
		number := fmt.Sprintf("400000%09d%d", 123_000_000+len(s.planted), digit)
		if luhn(number) {
			s.planted[number] = where
			return number
		}
	}
	return ""
}

func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i]-'0') * (1 + i%2)
		sum += d/10 + d%10
	}
	return sum%10 == 0
}

// spaced returns a number in the form printed on a card.
func spaced(number string) string {
	return strings.Join([]string{number[:4], number[4:8], number[8:12], number[12:]}, " ")
}

// v1Texts sends each text of v1, which must be refused.
func (s *cardTexts) v1Texts(t *testing.T) {
	t.Helper()
	const pay, card = `{"amount":100,"currency":"usd","payment_method":"card",`,
		`"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031`
	transactions := map[string]string{
		"reference": pay + card + `},"reference":"%s"}`, "description": pay + card + `},"description":"to %s"}`,
		"statement_descriptor": pay + card + `},"statement_descriptor":"%s"}`, "card.holder": pay + card + `,"holder":"%s"}}`,
		"metadata.x": pay + card + `},"metadata":{"x":"%s"}}`, "metadata": pay + card + `},"metadata":{"%s":"x"}}`,
		"billing.last_name": pay + card + `},"billing":{"last_name":"%s"}}`, "customer": pay + `"customer":"%s"}`,
		"order.purchase_order_number": pay + card + `},"order":{"purchase_order_number":"%s"}}`,
		"payment_method":              `{"amount":1,"currency":"usd","payment_method":"%s"}`,
	}
	paths := map[string]map[string]string{
		"/v1/transactions": transactions,
		"/v1/customers": {
			"email":       `{"email":"%s@example.com"}`,
			"description": `{"description":"%s"}`,
			"phone":       `{"phone":"%s"}`,
		},
		"/v1/webhook_endpoints": {
			"url":         `{"url":"` + hookURL + `/%s","enabled_events":["*"]}`,
			"description": `{"url":"` + hookURL + `","enabled_events":["*"],"description":"%s"}`,
		},
		"/v1/api_keys": {"name": `{"kind":"secret","name":"%s"}`},
		"/v1/refunds":  {"reason": `{"transaction":"txn_0000000000001","reason":"%s"}`},
		"/v1/tokens":   {"card.holder": `{` + card + `,"holder":"%s"}}`},
	}
	for path, fields := range paths {
		for field, body := range fields {
			for _, form := range []func(string) string{func(n string) string { return n }, spaced} {
				got := s.m.must(t, http.MethodPost, path, "", fmt.Sprintf(body, form(s.number("v1 "+path+" "+field))))
				e := mustDecode[v1.ErrorBody](t, got).Error
				if e.Code != "card_number_in_text" || e.Param == nil || *e.Param != field {
					t.Errorf("%s, %s: got %s", path, field, got.body)
				}
			}
		}
	}
}

const hookURL = "https://hooks.example.com"

// providerATexts sends each stored text of provider-a. The payment must be approved.
func (s *cardTexts) providerATexts(t *testing.T) {
	t.Helper()
	const end = "</payment>"
	for i, text := range []string{
		"<order><invoiceNumber>%s</invoiceNumber></order>", "<order><description>for %s</description></order>",
		"<lineItems><lineItem><itemId>%[1]s</itemId><name>%[1]s</name><description>%[1]s</description>" +
			"<quantity>1</quantity><unitPrice>1</unitPrice></lineItem></lineItems>",
		"<tax><amount>1</amount><name>%[1]s</name><description>%[1]s</description></tax>", "<poNumber>%s</poNumber>",
		"<customer><id>%s</id></customer>", "<customer><email>%s@example.com</email></customer>",
		"<billTo><firstName>%[1]s</firstName><lastName>%[1]s</lastName><company>%[1]s</company><address>%[1]s</address>" +
			"<phoneNumber>%[1]s</phoneNumber></billTo>",
		"<shipTo><firstName>%[1]s</firstName><address>%[1]s</address></shipTo>",
		"<userFields><userField><name>%[1]s</name><value>%[1]s</value></userField></userFields>",
	} {
		for j, form := range []func(string) string{func(n string) string { return n }, spaced} {
			n := form(s.number("provider-a " + text))
			if strings.Contains(text, "invoiceNumber") || strings.Contains(text, "<id>") || strings.Contains(text, "firstName") {
				n = n[:min(len(n), 20)]
			}
			body := strings.Replace(saleXML(s.process, fmt.Sprintf("%d.%02d", 100+i, j)), end, end+fmt.Sprintf(text, n), 1)
			if got := postLegacy(t, s.m, s.process, body); !strings.Contains(got, approvedXML) {
				t.Errorf("%s: got %s", text, got)
			}
		}
	}
	ref := s.number("provider-a refId")
	got := postLegacy(t, s.m, s.process,
		strings.Replace(saleXML(s.process, "90.00"), "<transactionRequest>", "<refId>"+ref+"</refId><transactionRequest>", 1))
	if !strings.Contains(got, approvedXML) || !strings.Contains(got, "<refId>"+ref+"</refId>") {
		t.Errorf("refId: got %s, want it back as it came", got)
	}
	members := fmt.Sprintf(`"profile":{"merchantCustomerId":%q,"description":"of %s","email":"%s@example.org",`+
		`"paymentProfiles":{"billTo":{"firstName":%q},%s}}`,
		s.number("profile id"), s.number("profile description"), s.number("profile email"), s.number("profile name"),
		legacyCard)
	first := mustAsk(t, s.process, s.Keys.SKTest, "createCustomerProfileRequest", members).body
	again := mustAsk(t, s.process, s.Keys.SKTest, "createCustomerProfileRequest", members).body
	if !strings.Contains(first, "I00001") || !strings.Contains(again, "E00039") {
		t.Errorf("profile: got %s, then %s; want it made, then refused as a duplicate", first, again)
	}
}

// providerBTexts sends stored texts of provider-b. The payments must be approved.
func (s *cardTexts) providerBTexts(t *testing.T) {
	t.Helper()
	at := clock.System().Now()
	for i, change := range [][2]string{
		{`"code":"follow"`, `"code":"%s"`},
		{`"code":"follow"`, `"comments":"pays with %s"`},
		{`"transactionId":""`, `"transactionId":"%s"`},
		{`"transactionId":""`, `"reconciliationId":"%s"`},
		{`"orderInformation":{`, `"buyerInformation":{"merchantCustomerID":"%s"},"orderInformation":{`},
		{`"orderInformation":{`, `"merchantDefinedInformation":[{"key":"%[1]s","value":"%[1]s"}],"orderInformation":{`},
		{`"orderInformation":{`, `"merchantInformation":{"merchantDescriptor":{"name":"My shop %s"}},"orderInformation":{`},
		{
			`"orderInformation":{`,
			`"orderInformation":{"billTo":{"firstName":"A","lastName":"%[1]s","address1":"%[1]s","country":"US",` +
				`"email":"%[1]s@example.com"},`,
		},
		{
			`"orderInformation":{`,
			`"orderInformation":{"invoiceDetails":{"invoiceNumber":"%[1]s","purchaseOrderNumber":"%[1]s"},`,
		},
		{
			`"orderInformation":{`,
			`"orderInformation":{"lineItems":[{"productName":"%[1]s","productSku":"%[1]s","quantity":"1","unitPrice":"1"}],`,
		},
	} {
		for j, form := range []func(string) string{func(n string) string { return n }, spaced} {
			n := s.number("provider-b " + change[1])
			text := fmt.Sprintf(change[1], form(n))
			body := strings.Replace(restPayment(fmt.Sprintf("%d.%02d", 200+i, j), "USD", true, ""), change[0], text, 1)
			got := s.signed(t, s.http, s.HTTP, restPayments, body, at)
			if !strings.Contains(got, approvedREST) {
				t.Errorf("%s: got %s", text, got)
			}
			if strings.HasPrefix(change[1], `"code"`) && !strings.Contains(got, text) {
				t.Errorf("%s: got %s, want it back as it came", text, got)
			}
		}
	}
}

// wantNoNumber checks that a text has no planted number in any form.
func (s *cardTexts) wantNoNumber(t *testing.T, where, text string) {
	t.Helper()
	for number, planted := range s.planted {
		encoded := base64.StdEncoding.EncodeToString([]byte(number))
		for _, form := range []string{
			number, spaced(number), number[:14], spaced(number)[:17], encoded[:20],
			hex.EncodeToString([]byte(number)),
		} {
			if strings.Contains(text, form) {
				t.Errorf("%s holds the number of %s", where, planted)
			}
		}
	}
}

// TestNoCardNumberOfATextIsLeft puts card numbers into every kind of text, in v1 and in both
// dialects. V1 refuses them. A legacy payment succeeds. No file, webhook or list holds a number
// afterwards.
func TestNoCardNumberOfATextIsLeft(t *testing.T) {
	t.Parallel()
	dir, hook := t.TempDir(), newInbox(t)
	p := start(t, dir, "--log", "info", allowPrivate)
	s := &cardTexts{process: p, m: merchantOf(t, p), http: patientClient(t), planted: map[string]string{}}
	s.m.must(t, http.MethodPost, "/v1/webhook_endpoints", "", `{"url":"`+hook.URL+`","enabled_events":["*"]}`)
	s.v1Texts(t)
	s.providerATexts(t)
	s.providerBTexts(t)
	last := `"reference":"the last one"`
	s.m.must(t, http.MethodPost, "/v1/transactions", "",
		`{"amount":100,"currency":"usd","payment_method":"card",`+last+`}`)
	programtest.WaitFor(t, "the webhooks have come", func() bool { return strings.Contains(hook.text(), last) })
	for _, list := range []string{"transactions", "customers", "events", "webhook_endpoints", "api_keys", "refunds"} {
		got := s.m.must(t, http.MethodGet, "/v1/"+list+"?limit=100", "", "").body
		s.wantNoNumber(t, "the list of "+list, got)
		if list == "transactions" && len(regexp.MustCompile(`X{12}|XXXX XXXX XXXX`).FindAllString(got, -1)) < 20 {
			t.Errorf("the list shows too few masked numbers: %s", got)
		}
	}
	s.wantNoNumber(t, "a webhook", hook.text())
	p.Kill() // the write-ahead log stays
	s.wantNoNumber(t, "the log", p.Log.String())
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		s.wantNoNumber(t, entry.Name(), string(data))
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files were searched: %v", files, err)
	}
	t.Logf("%d numbers in %d files", len(s.planted), files)
}
