package providera_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// TestBothNotations sends the request of every golden case in the other notation too. V1 must get
// the same commands, and the two responses must agree by the contract's mapping rules. The test
// implements these rules again on purpose: the JSON response is the mapped XML response.
func TestBothNotations(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/case.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d cases, error %v", len(cases), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		if slices.Contains(oneNotation, filepath.Base(dir)) {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			request, ext := mustRequest(t, dir)
			other := asXML
			if ext == ".xml" {
				other = asJSON
			}
			s := mustScenario(t, path)
			commands, response := responseTo(t, s, request)
			otherCommands, otherResponse := responseTo(t, s, other(t, request))
			if !bytes.Equal(commands, otherCommands) {
				t.Errorf("commands:\n got %s\nwant %s", otherCommands, commands)
			}
			if ext == ".json" {
				response, otherResponse = otherResponse, response
			}
			if got, want := string(otherResponse), "\xef\xbb\xbf"+mapped(mustElement(t, response)); got != want {
				t.Errorf("responses:\n  got %s\n want %s\nas in %s", got, want, response)
			}
		})
	}
}

// oneNotation are the cases whose request cannot be written in the other notation.
var oneNotation = []string{"fault-malformed", "fault-no-namespace"}

func mustElement(t *testing.T, document []byte) *etree.Element {
	t.Helper()
	el, reason := safexml.Parse(bytes.TrimPrefix(document, []byte("\xef\xbb\xbf")), 0)
	if reason != "" {
		t.Fatalf("%s: %s", document, reason)
	}
	return el
}

// asJSON converts a request from XML by the mapping rules for requests. Adjacent elements of one
// name become an array.
func asJSON(t *testing.T, request []byte) []byte {
	t.Helper()
	root := mustElement(t, request)
	return []byte("{" + quoted(root.Tag) + ":" + member(root) + "}")
}

func member(el *etree.Element) string {
	children := el.ChildElements()
	if len(children) == 0 {
		return quoted(el.Text())
	}
	var parts []string
	for i := 0; i < len(children); {
		name := children[i].Tag
		var items []string
		for ; i < len(children) && children[i].Tag == name; i++ {
			items = append(items, member(children[i]))
		}
		value := items[0]
		if len(items) > 1 {
			value = "[" + strings.Join(items, ",") + "]"
		}
		parts = append(parts, quoted(name)+":"+value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// asXML converts a request from JSON. The items of an array become elements of its name, and null
// becomes no element.
func asXML(t *testing.T, request []byte) []byte {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(request))
	var b strings.Builder
	if err := elements(d, "", &b); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Replace(b.String(), ">", ` xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">`, 1))
}

// elements writes the next value as elements of that name. The outermost object has no name.
func elements(d *jsontext.Decoder, name string, b *strings.Builder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	kind, text := token.Kind(), token.String()
	if kind == 'n' {
		return nil
	}
	if kind == '[' {
		return until(d, ']', func() error { return elements(d, name, b) })
	}
	tag(b, "<", name)
	if kind == '{' {
		err := until(d, '}', func() error {
			key, err := d.ReadToken()
			return errors.Join(err, elements(d, key.String(), b))
		})
		tag(b, "</", name)
		return err
	}
	err = xml.EscapeText(b, []byte(text))
	tag(b, "</", name)
	return err
}

func until(d *jsontext.Decoder, end jsontext.Kind, each func() error) error {
	for d.PeekKind() != end {
		if d.PeekKind() == 0 {
			return io.ErrUnexpectedEOF
		}
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func tag(b *strings.Builder, open, name string) {
	if name != "" {
		b.WriteString(open + name + ">")
	}
}

// The contract's rules for responses in JSON.
var (
	// flat are the wrappers whose items become an array, except the messages at the top.
	flat = []string{
		"messages", "errors", "userFields", "splitTenderPayments", "lineItems",
		"transactions", "batchList", "statistics", "processors", "marketTypes", "productCodes",
		"paymentMethods", "currencies", "ids",
	}
	// repeated are the elements that are an array without a wrapper.
	repeated = []string{"paymentProfiles", "shipToList"}
	// lists are the flat wrappers that are there even if they are empty.
	lists = []string{"customerPaymentProfileIdList", "customerShippingAddressIdList", "validationDirectResponseList"}
	// typed are the members of responses that have numbers and booleans. A transactionResponse has
	// only strings.
	typed = []string{
		"transaction", "transactions", "totalNumInResultSet", "batchList", "batch", "isTestMode", "processors",
		"profile", "paymentProfile", "paymentProfiles", "address", "defaultShippingAddress",
	}
	// bare are the numbers and booleans.
	bare = []string{
		"responseCode", "responseReasonCode", "requestedAmount", "authAmount", "settleAmount", "prepaidBalanceRemaining",
		"taxExempt", "recurringBilling", "discountAmount", "taxIsAfterDiscount", "amount", "quantity", "unitPrice", "taxable",
		"totalNumInResultSet", "chargeAmount", "chargeCount", "refundAmount", "refundCount", "voidCount", "declineCount",
		"errorCount", "isTestMode", "defaultPaymentProfile", "defaultShippingAddress",
	}
	// derived are the members that come before the members of the base type. The members of the most
	// derived type come first.
	derived = map[string][][]string{
		"order": {{"purchaseOrderNumber"}}, "billTo": {{"phoneNumber", "faxNumber", "email"}},
		"profile":         {{"paymentProfiles", "shipToList", "profileType"}, {"customerProfileId"}},
		"paymentProfiles": paymentProfile, "paymentProfile": paymentProfile, "shipToList": address, "address": address,
	}
	paymentProfile = [][]string{{"defaultPaymentProfile"}, {"customerProfileId", "customerPaymentProfileId", "payment"}}
	address        = [][]string{{"customerAddressId"}, {"phoneNumber", "faxNumber", "email"}}
	// last are the members of the envelope, which XML has at the start.
	last = []string{"refId", "messages", "sessionToken"}
)

// mapped returns the JSON to which a response in XML maps.
func mapped(root *etree.Element) string {
	var own, envelope []string
	for _, c := range root.ChildElements() {
		value := quoted(c.Tag) + ":"
		switch c.Tag {
		case "messages":
			value += topMessages(c)
		case "transactionResponse":
			value += object(withIndicator(c), false)
		default:
			value += valueOf(c, slices.Contains(typed, c.Tag))
		}
		if slices.Contains(last, c.Tag) {
			envelope = append(envelope, value)
		} else {
			own = append(own, value)
		}
	}
	return "{" + strings.Join(append(own, envelope...), ",") + "}"
}

func topMessages(el *etree.Element) string {
	var items []string
	for _, m := range el.ChildElements()[1:] {
		items = append(items, object(m, false))
	}
	return `{"resultCode":` + quoted(el.ChildElements()[0].Text()) + `,"message":[` + strings.Join(items, ",") + "]}"
}

// processorID is the path of the one id that is a number.
const processorID = "/getMerchantDetailsResponse/processors/processor/id"

// listedNumbers begins the paths of the ids that are numbers in a list of payment profiles.
const listedNumbers = "/getCustomerPaymentProfileListResponse/paymentProfiles/paymentProfile/customer"

const indicator = "SupplementalDataQualificationIndicator"

// withIndicator adds the member that only JSON has, before networkTransId.
func withIndicator(el *etree.Element) *etree.Element {
	out := el.Copy()
	added := etree.NewElement(indicator)
	added.SetText("0")
	if network := out.SelectElement("networkTransId"); network != nil {
		out.InsertChildAt(network.Index(), added)
	} else {
		out.AddChild(added)
	}
	return out
}

// valueOf returns the JSON of an element. Details are typed.
func valueOf(el *etree.Element, typed bool) string {
	switch {
	case el.Tag == "messages" && el.ChildElements()[0].Tag == "resultCode": // of a profileResponse
		return topMessages(el)
	case slices.Contains(flat, el.Tag), slices.Contains(lists, el.Tag), el.SelectElement("paymentProfile") != nil:
		var items []string
		for _, c := range el.ChildElements() {
			items = append(items, valueOf(c, typed))
		}
		return "[" + strings.Join(items, ",") + "]"
	case len(el.ChildElements()) > 0, el.Tag == "billTo": // an address without any field is an empty object
		return object(el, typed)
	case el.Tag == indicator || typed && slices.Contains(bare, el.Tag), typed && el.GetPath() == processorID,
		strings.HasPrefix(el.GetPath(), listedNumbers):
		return el.Text()
	}
	return quoted(el.Text())
}

func object(el *etree.Element, typed bool) string {
	levels := derived[el.Tag]
	if !typed || el.Tag == "paymentProfile" && el.Parent().Tag == "paymentProfiles" { // an item of a list has no base type
		levels = nil
	}
	members := make([][]string, len(levels)+1)
	children := el.ChildElements()
	for i := 0; i < len(children); {
		name, items := children[i].Tag, []string{}
		for ; i < len(children) && children[i].Tag == name; i++ {
			items = append(items, valueOf(children[i], typed))
		}
		value := strings.Join(items, ",")
		if typed && slices.Contains(repeated, name) {
			value = "[" + value + "]"
		}
		level := slices.IndexFunc(levels, func(names []string) bool { return slices.Contains(names, name) })
		if level < 0 {
			level = len(levels)
		}
		members[level] = append(members[level], quoted(name)+":"+value)
	}
	return "{" + strings.Join(slices.Concat(members...), ",") + "}"
}

func quoted(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err) // the text is the test's
	}
	return string(b)
}
