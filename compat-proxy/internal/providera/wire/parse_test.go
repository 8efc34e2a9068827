package wire_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

const (
	processing = "An error occurred during processing. Please try again."
	malformed  = "An error occurred while parsing the XML request."
)

const member = `{"authenticateTestRequest":{"merchantAuthentication":{"name":"n"}}}`

var ok = root("authenticateTestRequest", auth)

var refusedDocuments = map[string]struct {
	body       string
	format     wire.Format
	code, text string
}{
	"empty":                 {"", wire.XML, wire.CodeSchema, malformed},
	"blank":                 {" \r\n\t", wire.XML, wire.CodeSchema, malformed},
	"byte order mark alone": {"\xef\xbb\xbf", wire.XML, wire.CodeSchema, malformed},
	"form":                  {"x_login=a&x_tran_key=b", wire.XML, wire.CodeSchema, malformed},
	"doctype":               {"<!DOCTYPE a>" + ok, wire.XML, wire.CodeSchema, malformed},
	"entity":                {strings.Replace(ok, ">n<", ">&n;<", 1), wire.XML, wire.CodeSchema, malformed},
	"two roots":             {ok + ok, wire.XML, wire.CodeSchema, malformed},
	"not closed":            {ok[:len(ok)-3], wire.XML, wire.CodeSchema, malformed},
	"depth": {
		strings.Repeat("<a>", 33) + strings.Repeat("</a>", 33), wire.XML, wire.CodeSchema,
		malformed,
	},
	"latin-1":   {strings.Replace(ok, ">n<", ">\xe5<", 1), wire.XML, wire.CodeSchema, malformed},
	"too large": {ok + strings.Repeat(" ", wire.DefaultMaxBytes), wire.XML, wire.CodeSchema, malformed},
	"JSON too large": {
		member + strings.Repeat(" ", wire.DefaultMaxBytes), wire.JSON, wire.CodeProcessing,
		processing,
	},
	"no namespace": {
		"<authenticateTestRequest/>", wire.XML, wire.CodeNamespace,
		"The root node does not reference a valid XML namespace.",
	},
	"foreign namespace": {
		strings.Replace(ok, ns, "urn:x", 1), wire.XML, wire.CodeNamespace,
		"The root node does not reference a valid XML namespace.",
	},
	"unknown method": {
		root("launchRocketRequest", ""), wire.XML, wire.CodeMethod,
		"The name of the requested API method is invalid.",
	},
	"method by other case": {
		root("CreateTransactionRequest", ""), wire.XML, wire.CodeMethod,
		"The name of the requested API method is invalid.",
	},
	"unknown JSON method": {
		`{"launchRocketRequest":{}}`, wire.JSON, wire.CodeMethod,
		"The name of the requested API method is invalid.",
	},
	"JSON syntax":        {`{"authenticateTestRequest":}`, wire.JSON, wire.CodeProcessing, processing},
	"JSON cut":           {member[:len(member)-1], wire.JSON, wire.CodeProcessing, processing},
	"JSON comma":         {`{"authenticateTestRequest":{"refId":"a",}}`, wire.JSON, wire.CodeProcessing, processing},
	"JSON twice":         {member + member, wire.JSON, wire.CodeProcessing, processing},
	"JSON trailing text": {member + "x", wire.JSON, wire.CodeProcessing, processing},
	"a method twice": {
		`{"authenticateTestRequest":{},"authenticateTestRequest":{}}`, wire.JSON,
		wire.CodeProcessing, processing,
	},
	"two methods": {
		`{"authenticateTestRequest":{},"createTransactionRequest":{}}`, wire.JSON,
		wire.CodeProcessing, processing,
	},
	"no method":      {`{}`, wire.JSON, wire.CodeProcessing, processing},
	"array":          {`[` + member + `]`, wire.JSON, wire.CodeProcessing, processing},
	"array of roots": {`{"authenticateTestRequest":[{}]}`, wire.JSON, wire.CodeProcessing, processing},
	"array in array": {`{"authenticateTestRequest":{"refId":[["a"]]}}`, wire.JSON, wire.CodeProcessing, processing},
	"JSON depth": {
		strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), wire.JSON, wire.CodeProcessing,
		processing,
	},
	"JSON nodes": {
		`{"a":{"b":[` + strings.Repeat("1,", 10_000) + `1]}}`, wire.JSON, wire.CodeProcessing,
		processing,
	},
	"JSON key": {`{"authenticateTestRequest":{"a b":1}}`, wire.JSON, wire.CodeProcessing, processing},
	"JSON control": {
		`{"authenticateTestRequest":{"refId":"\u0000"}}`, wire.JSON, wire.CodeProcessing,
		processing,
	},
	"JSON surrogate": {
		`{"authenticateTestRequest":{"refId":"\ud800"}}`, wire.JSON, wire.CodeProcessing,
		processing,
	},
	"JSON latin-1": {
		"{\"authenticateTestRequest\":{\"refId\":\"\xe5\"}}", wire.JSON, wire.CodeProcessing,
		processing,
	},
	"JSON order": {
		`{"authenticateTestRequest":{"refId":"a","merchantAuthentication":{}}}`, wire.JSON, wire.CodeSchema,
		"The element " + in("authenticateTestRequest") + " has invalid child element " + in("refId") + "." +
			expecting("merchantAuthentication"),
	},
	"duplicate key": {
		`{"authenticateTestRequest":{"merchantAuthentication":{},"refId":"a","refId":"b"}}`, wire.JSON, wire.CodeSchema,
		"The element " + in("authenticateTestRequest") + " has invalid child element " + in("refId") + ".",
	},
	"duplicate escaped key": {
		`{"authenticateTestRequest":{"merchantAuthentication":{},"refId":"a","ref\u0049d":"b"}}`, wire.JSON, wire.CodeSchema,
		"The element " + in("authenticateTestRequest") + " has invalid child element " + in("refId") + ".",
	},
	"JSON text": {
		`{"authenticateTestRequest":"a"}`, wire.JSON, wire.CodeSchema,
		"The element " + in("authenticateTestRequest") + " cannot contain text." + expecting("merchantAuthentication"),
	},
	"JSON null": {
		`{"authenticateTestRequest":null}`, wire.JSON, wire.CodeSchema,
		"The element " + in("authenticateTestRequest") + " has incomplete content." + expecting("merchantAuthentication"),
	},
	"JSON exponent": {
		`{"createTransactionRequest":{"merchantAuthentication":{},"transactionRequest":{"transactionType":"a",` +
			`"amount":1e2}}}`, wire.JSON, wire.CodeSchema,
		value("amount", "1e2", xsDecimal, "The string '1e2' is not a valid Decimal value."),
	},
}

func TestRefusedDocuments(t *testing.T) {
	t.Parallel()
	for name, tt := range refusedDocuments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkFault(t, tt.body, tt.code, tt.text)
			if _, fault := wire.Parse([]byte(tt.body), wire.Options{}); fault.Format != tt.format {
				t.Errorf("got format %s, want %s", fault.Format, tt.format)
			}
		})
	}
}

func TestMaxBytes(t *testing.T) {
	t.Parallel()
	body := []byte(root("authenticateTestRequest", auth))
	if _, fault := wire.Parse(body, wire.Options{MaxBytes: len(body)}); fault != nil {
		t.Errorf("at the limit: %s", fault.Text)
	}
	if _, fault := wire.Parse(body, wire.Options{MaxBytes: len(body) - 1}); fault == nil {
		t.Error("accepted above the limit")
	}
}

func TestLenientOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, want string }{
		"swapped": {create("<amount>1</amount><transactionType>x</transactionType>"), ""},
		"apart": {root("createCustomerProfileRequest", auth+"<profile><shipToList/><paymentProfiles/><shipToList/>"+
			"</profile>"), ""},
		"unknown": {create("<bogus/><transactionType>x</transactionType>"), "The element " + in("transactionRequest") +
			" has invalid child element " + in("bogus") + "." + expecting("transactionType")},
		"repeated": {root("authenticateTestRequest", "<refId/>"+auth+"<refId/>"), "The element " +
			in("authenticateTestRequest") + " has invalid child element " + in("refId") + "." + expecting("clientId")},
		"choice": {sale("<payment><dataSource/><payPal/><emv/></payment>"), "The element " + in("payment") +
			" has invalid child element " + in("emv") + "."},
		"required": {create("<amount>1</amount>"), "The element " + in("transactionRequest") + " has incomplete content." +
			expecting("transactionType")},
		"facet": {
			create("<amount>a</amount><transactionType/>"),
			value("amount", "a", xsDecimal, "The string 'a' is not a valid Decimal value."),
		},
		"text": {create("<amount>1</amount>x<transactionType/>"), "The element " + in("transactionRequest") +
			" cannot contain text." + expecting("transactionType")},
		"late": {sale("<tip><amount>1</amount></tip>x"), "The element " + in("transactionRequest") +
			" cannot contain text." + expecting(strings.Replace(afterType, ", tip", "", 1))},
		"foreign": {create(`<amount xmlns="">1</amount>`), "The element " + in("transactionRequest") +
			" has invalid child element 'amount'." + expecting("transactionType")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, fault := wire.Parse([]byte(tt.body), wire.Options{LenientOrder: true})
			if got := faultText(fault); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The leniency of a login depends on its name, at any position in the document.
func TestLenientLogin(t *testing.T) {
	t.Parallel()
	lenient := func(login string) bool { return login == "lenient" }
	for name, wantFault := range map[string]bool{"lenient": false, "strict": true, "": true} {
		for _, body := range []string{
			root("authenticateTestRequest",
				"<refId>a</refId><merchantAuthentication><name>"+name+"</name></merchantAuthentication>"),
			`{"authenticateTestRequest":{"refId":"a","merchantAuthentication":{"name":"` + name + `"}}}`,
		} {
			_, fault := wire.Parse([]byte(body), wire.Options{Lenient: lenient})
			if got := fault != nil; got != wantFault {
				t.Errorf("%q: refused: got %t, want %t", name, got, wantFault)
			}
		}
	}
}

func faultText(f *wire.Fault) string {
	if f == nil {
		return ""
	}
	return f.Text
}

func TestRequestEchoes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rest          string
		refID, client string
	}{
		"absent": {"", "-", "-"},
		"empty":  {"<clientId/><refId/>", "", ""},
		"given":  {"<clientId>sdk</clientId><refId> r 1</refId>", " r 1", "sdk"},
	}
	show := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, fault := wire.Parse([]byte(root("authenticateTestRequest", auth+tt.rest)), wire.Options{})
			if fault != nil {
				t.Fatal(fault.Text)
			}
			if got := show(req.RefID); got != tt.refID {
				t.Errorf("refId: got %q, want %q", got, tt.refID)
			}
			if got := show(req.ClientID); got != tt.client {
				t.Errorf("clientId: got %q, want %q", got, tt.client)
			}
			if got, want := req.Method, "authenticateTestRequest"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
