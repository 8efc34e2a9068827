package compatproxy_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// recordingV1 records the body of every request.
type recordingV1 struct {
	v1
	mu     sync.Mutex
	bodies bytes.Buffer // guarded by mu
}

func (s *recordingV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.bodies.Write(body)
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.v1.ServeHTTP(w, r)
}

func (s *recordingV1) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies.String()
}

// TestCutTextsHoldNoOwnNumber: the dialect cuts a text in the middle of the request's card number.
// V1 gets no part of the number. The number follows letters, so the proxy recognises it there only
// because it is the request's own.
func TestCutTextsHoldNoOwnNumber(t *testing.T) {
	t.Parallel()
	glued := func(before int) string { return strings.Repeat("x", before) + pan }
	in := func(body, before, text string) string { return strings.Replace(body, before, text+before, 1) }
	const trackA = `{"trackData":{"track2":";` + pan + `=31041011000012345678?"}}`
	cardA := sale[strings.Index(sale, `{"creditCard":`) : strings.Index(sale, `"987"}}`)+len(`"987"}}`)]
	tokenB := strings.Replace(saleB, `"card":`, `"tokenizedCard":`, 1)
	descriptorA := strings.Replace(sale, cardA, cardA+`,"merchantDescriptor":"`+glued(7)+`"`, 1)
	descriptorB := `"merchantInformation":{"merchantDescriptor":{"name":"` + glued(7) + `"}},`
	for name, tt := range map[string]struct{ path, body string }{
		"provider-a card": {path, descriptorA},
		"provider-a token": {path, strings.Replace(descriptorA, `"cardCode":"987"`, `"isPaymentToken":true,`+
			`"cryptogram":"AAAA"`, 1)},
		"provider-a track": {path, strings.Replace(descriptorA, cardA, trackA, 1)},
		"provider-b card":  {pathB, in(saleB, `"orderInformation"`, descriptorB)},
		"provider-b token": {pathB, in(tokenB, `"orderInformation"`, descriptorB)},
		"reference":        {pathB, strings.Replace(saleB, "ORD-1", "éé"+glued(32), 1)},
		"description":      {pathB, in(saleB, `"code"`, `"comments":"`+glued(990)+`",`)},
		"contact": {pathB, in(strings.Replace(saleB, `"capture":true`, `"capture":false`, 1), `"amountDetails"`,
			`"billTo":{"postalCode":"`+glued(6)+`","lastName":"`+glued(90)+`"},`)},
		"shipping": {pathB, in(saleB, `"amountDetails"`, `"shipTo":{"address1":"`+glued(245)+`"},`)},
		"order number": {pathB, in(saleB, `"amountDetails"`,
			`"invoiceDetails":{"purchaseOrderNumber":"`+glued(50)+`"},`)},
		"line item": {pathB, in(saleB, `"amountDetails"`,
			`"lineItems":[{"productName":"`+glued(245)+`","productSku":"`+glued(50)+`"}],`)},
		"metadata": {pathB, in(saleB, `"orderInformation"`,
			`"buyerInformation":{"merchantCustomerId":"`+glued(486)+`"},`)},
		"metadata name": {pathB, in(saleB, `"orderInformation"`,
			`"merchantDefinedInformation":[{"key":"`+glued(20)+`","value":"`+glued(486)+`"}],`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, url := mustRecord(t)
			as := func(*http.Request) {}
			if tt.path == pathB {
				as = asB
			}
			resp, body := send(t, http.MethodPost, url+tt.path, strings.NewReader(tt.body), as)
			got := strings.ReplaceAll(s.got(), `"number":"`+pan+`"`, "")
			if resp.status/100 != 2 || s.creates.Load() != 1 || !strings.Contains(got, "xXXXX") {
				t.Errorf("got %d %s, want one payment with a masked number in a text: %s", resp.status, body, got)
			}
			if strings.Contains(got, pan[:8]) {
				t.Errorf("v1 got a part of the number in a text: %s", got)
			}
		})
	}
}

func mustRecord(t *testing.T) (s *recordingV1, url string) {
	t.Helper()
	s = &recordingV1{}
	upstream := goldentest.Serve(t, s)
	p, err := compatproxy.New(compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: upstream.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	return s, server.URL
}
