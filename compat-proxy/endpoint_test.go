package compatproxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// saleXML is sale in XML.
const saleXML = `<?xml version="1.0" encoding="utf-8"?>` + bareSale

const bareSale = `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
	`<name>shop</name>` +
	`<transactionKey>` + apiKey + `</transactionKey></merchantAuthentication><refId>r1</refId><transactionRequest>` +
	`<transactionType>authCaptureTransaction</transactionType><amount>24.50</amount><payment><creditCard><cardNumber>` +
	pan + `</cardNumber>` +
	`<expirationDate>2031-04</expirationDate></creditCard></payment></transactionRequest></createTransactionRequest>`

// approvedXML and approvedJSON are parts of every approval.
const (
	approvedXML  = "<responseCode>1</responseCode>"
	approvedJSON = `"responseCode":"1"`
)

// TestClients sends a sale like each client of the contract's table: with its content type, prolog
// and headers.
func TestClients(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, func(c *compatproxy.Config) { c.DropInPaths = true })
	node := http.Header{"Accept": {"application/json, text/plain, */*"}, "Accept-Encoding": {"gzip, br"}}
	prefixed := strings.NewReplacer("</", "</a:", "<", "<a:", " xmlns=", " xmlns:a=")
	xsi := ` xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`
	for name, c := range map[string]struct {
		contentType, body string
		header            http.Header
	}{
		"node":   {"application/json", sale, node},
		"python": {"application/xml", saleXML, http.Header{"Version": {"1.0"}, "Encoding": {"utf-8"}}},
		"java": {"text/xml; charset=utf-8", `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" +
			strings.ReplaceAll(bareSale, "><", ">\n    <"), nil},
		"ruby":  {"text/xml", "<?xml version=\"1.0\"?>\n" + strings.ReplaceAll(bareSale, "><", ">\n<") + "\n", nil},
		"php 2": {"text/json", sale, nil},
		"php 1": {"text/xml", saleXML, nil},
		"dotnet": {"text/xml", bom + `<?xml version="1.0" encoding="utf-8"?>` +
			strings.Replace(bareSale, " xmlns", xsi+" xmlns", 1), nil},
		"omnipay":     {"text/xml; charset=utf-8", saleXML + "\n", nil},
		"hyperswitch": {"application/json", sale, http.Header{"Via": {"HyperSwitch"}}},
		"sleet":       {"", sale, http.Header{"User-Agent": {"sleet"}}},
		"a form":      {"application/x-www-form-urlencoded", sale, http.Header{"Accept": {"application/json"}}},
		"wrong type":  {"application/json", saleXML, nil},
		"json bom":    {"application/json", bom + "\r\n " + sale, nil},
		"prefixed":    {"text/xml", prefixed.Replace(bareSale), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, body := send(t, http.MethodPost, proxy.URL+dropIn, strings.NewReader(c.body), func(r *http.Request) {
				for key, values := range c.header {
					r.Header[key] = values
				}
				if c.contentType != "" {
					r.Header.Set("Content-Type", c.contentType)
				}
			})
			start := bom + "<?xml version=\"1.0\" encoding=\"utf-8\"?><createTransactionResponse "
			want, mediaType := approvedXML, "application/xml; charset=utf-8"
			if strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(c.body, bom), "\r\n "), "{") {
				start, want, mediaType = bom+"{", approvedJSON, "application/json; charset=utf-8"
			}
			if resp.status != http.StatusOK || !strings.HasPrefix(body, start) || !strings.Contains(body, want) {
				t.Errorf("got %d %s, want an approval in the request's format", resp.status, body)
			}
			got, encoding := resp.header.Get("Content-Type"), resp.header.Get("Content-Encoding")
			if got != mediaType || encoding != "" || resp.length != int64(len(body)) {
				t.Errorf("got Content-Type %q, Content-Encoding %q, length %d", got, encoding, resp.length)
			}
		})
	}
}

// TestExpectContinue: a client that waits for 100 Continue gets it, and then the response.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", proxy.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	body := bom + saleXML
	_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nExpect: "+
		"100-continue\r\nContent-Length: "+
		strconv.Itoa(len(body))+"\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	interim, err := http.ReadResponse(in, r)
	if err != nil || interim.Body.Close() != nil || interim.StatusCode != http.StatusContinue {
		t.Fatalf("got %v, %v, want 100", interim, err)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	final, err := http.ReadResponse(in, r)
	if err != nil {
		t.Fatal(err)
	}
	response, err := io.ReadAll(final.Body)
	if err != nil || final.Body.Close() != nil || !strings.Contains(string(response), approvedXML) {
		t.Errorf("got %s, %v, want an approval", response, err)
	}
}

// TestOddities sends the variants that the contract requires a server to accept.
func TestOddities(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	const end = "</transactionRequest>"
	within := func(old, replacement string) string { return strings.Replace(saleXML, old, replacement, 1) }
	inJSON := func(old, replacement string) string { return strings.Replace(sale, old, replacement, 1) }
	for name, body := range map[string]string{
		"line breaks in an address": within(end, "<billTo><address>\n 1 Elm St\r\n Flat 2\n</address></billTo>"+end),
		"an empty refId":            within("<refId>r1</refId>", "<refId/>"),
		"empty optional elements": within(end, "<order><invoiceNumber/><description></description></order><customer/>"+
			"<billTo><address/></billTo>"+end),
		"clientId":               within("<refId>", "<clientId>sdk-dotnet-2.0.3</clientId><refId>"),
		"null refId":             inJSON(`"refId":"r1"`, `"refId":null`),
		"a number for an amount": inJSON(`"24.50"`, `24.5`),
		"an object for a list": inJSON(`}}}}}`, `}},"lineItems":{"lineItem":{"itemId":"1","name":"mug","quantity":"2",`+
			`"unitPrice":6.25}}}}}`),
		"booleans":           within(end, "<taxExempt>1</taxExempt>"+end),
		"booleans in JSON":   inJSON(`}}}}}`, `}},"taxExempt":false}}}`),
		"n/a for no address": within(end, "<billTo><city></city><state>n/a</state><zip/></billTo>"+end),
		"a currency by user field": within(end, "<userFields><userField><name>x_currency_code</name><value>USD</value>"+
			"</userField></userFields>"+end),
		"a decimal with a sign":    within("24.50", " +24.500 "),
		"names that are not ASCII": within(end, "<billTo><lastName>Wåhlin</lastName></billTo>"+end),
		"an unknown setting": within(end, "<transactionSettings><setting><settingName>nothing</settingName>"+
			"<settingValue>1</settingValue></setting>"+
			"</transactionSettings>"+end),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if body == saleXML || body == sale {
				t.Fatal("the replacement changed nothing")
			}
			resp, got := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(body), nil)
			if resp.status != http.StatusOK || !strings.Contains(got, approvedXML) && !strings.Contains(got, approvedJSON) {
				t.Errorf("got %d %s, want an approval", resp.status, got)
			}
		})
	}
}

// TestReferenceWithSpaces: a refTransId is trimmed before it is used, and before it is echoed.
func TestReferenceWithSpaces(t *testing.T) {
	t.Parallel()
	proxy := mustProxy(t, &v1{}, nil)
	void := bareSale[:strings.Index(bareSale, "<transactionRequest>")] +
		"<transactionRequest><transactionType>voidTransaction</transactionType>" +
		"<refTransId> 12 </refTransId></transactionRequest></createTransactionRequest>"
	_, got := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(void), nil)
	if !strings.Contains(got, "<refTransID>12</refTransID>") {
		t.Errorf("got %s", got)
	}
}

// bombs are short documents that are expensive for a careless parser. Each fits the limit for a
// body.
var bombs = map[string]string{
	"entities in entities": `<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c ` +
		`"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">` +
		`<!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]><a>&d;&d;&d;</a>`,
	"a long entity, often": `<!DOCTYPE a [<!ENTITY x "` + strings.Repeat("x", 100<<10) + `">]><a>` +
		strings.Repeat("&x;", 50000) + `</a>`,
	"entities undeclared": "<a>" + strings.Repeat("&x;", 60<<10) + "</a>",
	"an external DTD":     `<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a/>`,
	"a file as an entity": `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`,
	"a parameter entity":  `<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x"> %x;]><a/>`,
	"depth":               strings.Repeat("<a>", 80<<10),
	"depth in the schema": strings.Replace(bareSale, "<amount>", strings.Repeat("<payment>", 25<<10), 1),
	"attributes":          "<a " + strings.Repeat(`b="" `, 40<<10) + "/>",
	"declarations":        "<a " + strings.Repeat(`xmlns:b="u" `, 20<<10) + "/>",
	"one long attribute":  strings.Replace(bareSale, " xmlns", ` b="`+strings.Repeat("x", 240<<10)+`" xmlns`, 1),
	"one long name":       strings.Replace(bareSale, "<amount>", "<"+strings.Repeat("a", 240<<10)+"/><amount>", 1),
	"comments":            "<a>" + strings.Repeat("<!---->", 35<<10) + "</a>",
	"instructions":        "<a>" + strings.Repeat("<?b?>", 50<<10) + "</a>",
	"siblings":            strings.Replace(bareSale, "<amount>", strings.Repeat("<lineItems/>", 20<<10)+"<amount>", 1),
	"siblings, a comment": strings.Replace(bareSale, "<amount>", strings.Repeat("<tip/>", 9900)+"<!-- --><amount>", 1),
	"cdata":               "<a>" + strings.Repeat("<![CDATA[]]>", 20<<10) + "</a>",
	"not really gzip":     "\x1f\x8b" + strings.Repeat("\x00", 100<<10),
	"nested objects":      strings.Repeat(`{"a":`, 50<<10),
	"nested arrays":       `{"createTransactionRequest":` + strings.Repeat("[", 250<<10),
	"members":             `{"createTransactionRequest":{` + strings.Repeat(`"a":1,`, 40<<10) + `"a":1}}`,
	"one long number":     `{"createTransactionRequest":` + strings.Repeat("9", 250<<10) + `}`,
}

// TestBombs is not parallel, because it measures the memory for each document.
func TestBombs(t *testing.T) {
	const most, longest = 4 << 20, 20 * time.Second // CPU time; a slow machine needs more
	s := &v1{}
	upstream := goldentest.Serve(t, s)
	p, err := compatproxy.New(compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: upstream.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for name, body := range bombs {
		if len(body) > 256<<10 {
			t.Fatalf("%s: %d bytes, which is rejected for its length alone", name, len(body))
		}
		var before, after runtime.MemStats
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		w := httptest.NewRecorder()
		runtime.ReadMemStats(&before)
		began := cpuTime(t)
		p.Handler().ServeHTTP(w, r)
		took := cpuTime(t) - began
		runtime.ReadMemStats(&after)
		// E00001 is the contract's code for JSON that cannot be parsed.
		refused := func(got string) bool {
			return strings.Contains(got, "E00003") || body[0] == '{' && strings.Contains(got, "E00001")
		}
		if got := w.Body.String(); w.Code != http.StatusOK || !refused(got) || len(got) > 8<<10 {
			t.Errorf("%s: got %d %.300s, want E00003", name, w.Code, got)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > most || took > longest {
			t.Errorf("%s: %d KiB and %v, want at most %d KiB and %v", name, used>>10, took, most>>10, longest)
		}
	}
	if got := s.creates.Load(); got != 0 {
		t.Errorf("payments: got %d, want none", got)
	}
}

// cpuTime returns the CPU time of this process.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
