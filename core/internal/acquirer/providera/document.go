package providera

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
)

// namespace is the namespace of every document of the API.
const namespace = "AnetApi/xml/v1/schema/AnetApiSchema.xsd"

// text is the content of an element that must not repeat. The zero text is of an element that is
// missing.
type text struct {
	given bool
	value string
}

var errRepeated = errors.New("repeated element")

// UnmarshalXML implements xml.Unmarshaler.
func (t *text) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if t.given {
		return errRepeated
	}
	t.given = true
	if err := d.DecodeElement(&t.value, &start); err != nil {
		return err //nolint:wrapcheck // parse replaces it
	}
	t.value = strings.Clone(strings.TrimSpace(t.value)) // a search keeps it, and not the blanks around it
	return nil
}

// mostElements bounds the elements of one list, and mostAttributes the attributes of a document. An
// element in memory takes many times the bytes that announce it.
const mostElements, mostAttributes = 500, 10_000

// A list has fewer than 40 elements in a row, and fewer than 8 within each other.
const mostTags, mostDepth = 40 * mostElements, 16

// bounded reports whether a document has few enough elements, and few enough within each other. The
// decoder keeps each open element, also one that nothing reads.
func bounded(body []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(body))
	for tags, depth := 0, 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return true // the end, or the decoder fails there, too
		}
		switch token.(type) {
		case xml.StartElement:
			tags, depth = tags+1, depth+1
		case xml.EndElement:
			depth--
		}
		if tags > mostTags || depth > mostDepth {
			return false
		}
	}
}

var errTooMany = errors.New("too many elements")

// several are the elements of a list.
type several[T any] []T

// UnmarshalXML implements xml.Unmarshaler.
func (s *several[T]) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if len(*s) == mostElements {
		return errTooMany
	}
	var one T
	if err := d.DecodeElement(&one, &start); err != nil {
		return err //nolint:wrapcheck // parse replaces it
	}
	*s = append(*s, one)
	return nil
}

// document is a response of any method. Elements of other methods are missing.
type document struct {
	XMLName  xml.Name
	RefID    text `xml:"refId"`
	Messages struct {
		Result  text `xml:"resultCode"`
		Message []struct {
			Code text `xml:"code"`
		} `xml:"message"`
	} `xml:"messages"`
	Transaction *transactionResponse `xml:"transactionResponse"`
	Details     *details             `xml:"transaction"`
	timely      bool                 // our clock agrees with the host's, by skew at most
	Batches     several[batchRow]    `xml:"batchList>batch"`
	Rows        several[row]         `xml:"transactions>transaction"`
}

// batchRow is a batch of a list.
type batchRow struct {
	ID        text `xml:"batchId"`
	SettledAt text `xml:"settlementTimeUTC"`
}

// transactionResponse is the outcome of a transaction.
type transactionResponse struct {
	ResponseCode text `xml:"responseCode"`
	AuthCode     text `xml:"authCode"`
	AVS          text `xml:"avsResultCode"`
	CVC          text `xml:"cvvResultCode"`
	CAVV         text `xml:"cavvResultCode"`
	ID           text `xml:"transId"`
	Original     text `xml:"refTransID"`
	Test         text `xml:"testRequest"`
	Account      text `xml:"accountNumber"`
	Prepaid      struct {
		Requested text `xml:"requestedAmount"`
		Approved  text `xml:"approvedAmount"`
		Balance   text `xml:"balanceOnCard"`
	} `xml:"prePaidCard"`
	Messages []struct {
		Code text `xml:"code"`
	} `xml:"messages>message"`
	Errors []struct {
		Code text `xml:"errorCode"`
	} `xml:"errors>error"`
	NetworkTransactionID text `xml:"networkTransId"`
}

// details is a transaction of the account, as it is now.
type details struct {
	timely       bool // as of the document
	ID           text `xml:"transId"`
	Original     text `xml:"refTransId"`
	SubmittedAt  text `xml:"submitTimeUTC"`
	Type         text `xml:"transactionType"`
	Status       text `xml:"transactionStatus"`
	ResponseCode text `xml:"responseCode"`
	Reason       text `xml:"responseReasonCode"`
	AuthCode     text `xml:"authCode"`
	AVS          text `xml:"AVSResponse"`
	CVC          text `xml:"cardCodeResponse"`
	CAVV         text `xml:"CAVVResponse"`
	Order        struct {
		Invoice text `xml:"invoiceNumber"`
	} `xml:"order"`
	Requested  text `xml:"requestedAmount"`
	Authorized text `xml:"authAmount"`
	Settled    text `xml:"settleAmount"`
	Balance    text `xml:"prepaidBalanceRemaining"`
	Payment    struct {
		Card *struct {
			Number text `xml:"cardNumber"`
		} `xml:"creditCard"`
		Token *struct {
			Number text `xml:"tokenNumber"`
		} `xml:"tokenInformation"`
		Bank *struct {
			Type    text `xml:"accountType"`
			Routing text `xml:"routingNumber"`
			Number  text `xml:"accountNumber"`
			Holder  text `xml:"nameOnAccount"`
		} `xml:"bankAccount"`
	} `xml:"payment"`
	NetworkTransactionID text `xml:"networkTransId"`
}

// row is a transaction of a list.
type row struct {
	ID          text `xml:"transId"`
	SubmittedAt text `xml:"submitTimeUTC"`
	Status      text `xml:"transactionStatus"`
	Invoice     text `xml:"invoiceNumber"`
	Settled     text `xml:"settleAmount"`
}

// errorRoot is the root of a response to a request that had no method.
const errorRoot = "ErrorResponse"

// parse reads the response of a method. Its error is acquirer.ErrUnknown, and has no text of the
// response.
func parse(method string, body []byte) (*document, error) {
	if bytes.Count(body, []byte("=")) > mostAttributes {
		return nil, fmt.Errorf("providera: %w: too many attributes", acquirer.ErrUnknown)
	}
	if len(body) > upstream.MaxOutcome && !bounded(body) {
		return nil, fmt.Errorf("providera: %w: too many elements", acquirer.ErrUnknown)
	}
	var out document
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	if err := d.Decode(&out); err != nil || !ends(d) {
		return nil, fmt.Errorf("providera: %w: malformed response", acquirer.ErrUnknown)
	}
	root := out.XMLName
	if root.Space != namespace || root.Local != method+"Response" && root.Local != errorRoot {
		return nil, fmt.Errorf("providera: %w: response of another method", acquirer.ErrUnknown)
	}
	if result := out.Messages.Result.value; result != resultOK && result != resultError {
		return nil, fmt.Errorf("providera: %w: response without a result code", acquirer.ErrUnknown)
	}
	return &out, nil
}

const (
	resultOK    = "Ok"
	resultError = "Error"
)

// ends reports whether the document is complete and nothing follows it.
func ends(d *xml.Decoder) bool {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return true
		}
		blank, isText := token.(xml.CharData)
		if err != nil || !isText || len(bytes.TrimSpace(blank)) > 0 {
			return false
		}
	}
}

// ok reports whether the method succeeded.
func (d *document) ok() bool {
	return d.Messages.Result.value == resultOK && d.XMLName.Local != errorRoot
}

// code returns the first code of the response's own messages, "" if it has none.
func (d *document) code() string {
	if len(d.Messages.Message) == 0 {
		return ""
	}
	return d.Messages.Message[0].Code.value
}

// shown returns a code for an error: only the form of a code, because a log must not have any other
// text of the response.
func shown(code string) string {
	if n, err := strconv.Atoi(strings.TrimLeft(code, "EI")); err != nil || n < 0 || len(code) > 6 {
		return "unreadable code"
	}
	return code
}

// number returns the number of a transaction; "" if the text is none. "0" is the number of no
// transaction.
func number(t text) string {
	const longest = 20
	s := strings.TrimLeft(t.value, "0")
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return ""
		}
	}
	if len(s) > longest || len(s) != len(t.value) {
		return ""
	}
	return s
}
