package standalone_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestRefusalsOfV1LeaveTheStoreAlone(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	live := &merchant{base: m.base, key: p.Keys.SKLive, http: m.http}
	publishable := &merchant{base: m.base, key: p.Keys.PKTest, http: m.http}
	wrong := &merchant{base: m.base, key: p.Keys.SKTest[:len(p.Keys.SKTest)-1] + "~", http: m.http}
	card := func(number string, year string) string {
		return `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"` + number +
			`","exp_month":1,"exp_year":` + year + `}}`
	}
	for name, c := range map[string]struct {
		by     *merchant
		body   string
		status int
		code   string // "" for any
		param  string
	}{
		"no such key":      {wrong, card("4111111111111111", "2031"), 401, "invalid_api_key", ""},
		"publishable key":  {publishable, card("4111111111111111", "2031"), 403, "publishable_key_not_allowed", ""},
		"live, no way out": {live, card("4111111111111111", "2031"), 503, "acquirer_not_configured", ""},
		"unknown field":    {m, `{"amount":100,"currency":"usd","payment_method":"card","colour":"red"}`, 400, "", "colour"},
		"wrong type":       {m, `{"amount":"100","currency":"usd","payment_method":"card"}`, 400, "", "amount"},
		"amount 0":         {m, `{"amount":0,"currency":"usd","payment_method":"card"}`, 400, "", "amount"},
		"amount negative":  {m, `{"amount":-1,"currency":"usd","payment_method":"card"}`, 400, "", "amount"},
		"amount fraction":  {m, `{"amount":1.5,"currency":"usd","payment_method":"card"}`, 400, "", "amount"},
		"amount too large": {m, `{"amount":1000000000000,"currency":"usd","payment_method":"card"}`, 400, "", "amount"},
		"unknown currency": {m, `{"amount":100,"currency":"zzz","payment_method":"card"}`, 400, "", "currency"},
		"check digit":      {m, card("4111111111111112", "2031"), 400, "", "card.number"},
		"expired":          {m, card("4111111111111111", "2020"), 400, "", "card.exp_year"},
		"depth":            {m, strings.Repeat("[", 1000), 400, "", ""},
		"too large a body": {m, `{"description":"` + strings.Repeat("x", 300<<10) + `"}`, 413, "", ""},
	} {
		got := c.by.must(t, http.MethodPost, "/v1/transactions", "key-"+strings.ReplaceAll(name, " ", "-"), c.body)
		e := mustDecode[v1.ErrorBody](t, got).Error
		param := ""
		if e.Param != nil {
			param = *e.Param
		}
		if got.status != c.status || c.code != "" && e.Code != c.code || !strings.HasPrefix(param, c.param) ||
			c.param != "" && param == "" {
			t.Errorf("%s: %d %s, param %q, want %d %s, param %q", name, got.status, e.Code, param, c.status, c.code, c.param)
		}
	}
	for name, by := range map[string]*merchant{"test": m, "live": live} {
		if got, want := len(by.transactions(t)), 0; got != want {
			t.Errorf("%s transactions = %d, want %d", name, got, want)
		}
	}
}

func TestRefusalsOfProviderALeaveTheStoreAlone(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sale := saleXML(p, "5.00")
	const open = "<createTransactionRequest"
	for name, c := range map[string]struct{ body, code string }{
		"doctype":    {strings.Replace(sale, open, "<!DOCTYPE x>"+open, 1), "E00003"},
		"entity":     {strings.Replace(sale, open, `<!DOCTYPE x [<!ENTITY a "b">]>`+open, 1), "E00003"},
		"two roots":  {sale + "<again/>", "E00003"},
		"depth bomb": {strings.Replace(sale, "<payment>", strings.Repeat("<a>", 10000), 1), "E00003"},
		"wrong order": {strings.Replace(strings.Replace(sale, "<amount>5.00</amount>", "", 1), "</payment>",
			"</payment><amount>5.00</amount>", 1), "E00003"},
		"unknown element": {strings.Replace(sale, "<payment>", "<colour>red</colour><payment>", 1), "E00003"},
		"a mebibyte": {strings.Replace(sale, "</payment>",
			"</payment><order><description>"+strings.Repeat("x", 1<<20)+"</description></order>", 1), "E00003"},
		"cut off":       {sale[:len(sale)-10], "E00003"},
		"unknown root":  {strings.ReplaceAll(sale, "createTransactionRequest", "createNothingRequest"), "E00004"},
		"no namespace":  {strings.Replace(sale, ` xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"`, "", 1), "E00045"},
		"wrong key":     {strings.Replace(sale, p.ProviderA.TransactionKey, "wrong00000000000", 1), "E00007"},
		"wrong name":    {strings.Replace(sale, p.ProviderA.Name, "nobody", 1), "E00007"},
		"unknown type":  {strings.Replace(sale, "authCaptureTransaction", "giftTransaction", 1), "E00060"},
		"amount 0":      {strings.Replace(sale, "5.00", "0.00", 1), "E00027"},
		"check digit":   {strings.Replace(sale, "4111111111111111", "4111111111111112", 1), "E00027"},
		"expired":       {strings.Replace(sale, "2031-04", "2020-04", 1), "E00027"},
		"json, cut off": {`{"createTransactionRequest":{`, "E0000"}, // recordings have E00001 and E00003
		"nothing":       {"", "E0000"},
	} {
		got := postLegacy(t, m, p, c.body)
		if !strings.Contains(got, c.code) || strings.Contains(got, "<responseCode>1<") {
			t.Errorf("%s: %s, want %s", name, got, c.code)
		}
	}
	if got, want := len(m.transactions(t)), 0; got != want {
		t.Errorf("transactions = %d, want %d", got, want)
	}
}
