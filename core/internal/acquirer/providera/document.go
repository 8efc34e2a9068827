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

// document is a response of any method. Elements of other methods are missing.
type document struct {
	root        xml.Name
	RefID       text
	Messages    messages
	Transaction *transactionResponse
	Details     *details
	timely      bool // our clock agrees with the host's, by skew at most
	Batches     []batchRow
	Rows        []row
}

func (d *document) field(name string) element {
	switch name {
	case "refId":
		return &d.RefID
	case "messages":
		return fields(d.Messages.field)
	case "transactionResponse":
		if d.Transaction == nil {
			d.Transaction = &transactionResponse{}
		}
		return fields(d.Transaction.field)
	case "transaction":
		if d.Details == nil {
			d.Details = &details{}
		}
		return fields(d.Details.field)
	case "batchList":
		return several(&d.Batches, "batch", (*batchRow).field)
	case "transactions":
		return several(&d.Rows, "transaction", (*row).field)
	}
	return nil
}

// messages are the messages of a response itself.
type messages struct {
	Result  text
	Message []message
}

func (m *messages) field(name string) element {
	if name == "resultCode" {
		return &m.Result
	}
	return several(&m.Message, "message", (*message).field)(name)
}

// message is a message of a response or of a transaction.
type message struct{ Code text }

func (m *message) field(name string) element {
	if name == "code" {
		return &m.Code
	}
	return nil
}

// failure is an error of a transaction.
type failure struct{ Code text }

func (f *failure) field(name string) element {
	if name == "errorCode" {
		return &f.Code
	}
	return nil
}

// batchRow is a batch of a list.
type batchRow struct{ ID, SettledAt text }

func (b *batchRow) field(name string) element {
	switch name {
	case "batchId":
		return &b.ID
	case "settlementTimeUTC":
		return &b.SettledAt
	}
	return nil
}

// transactionResponse is the outcome of a transaction.
type transactionResponse struct {
	ResponseCode, AuthCode, AVS, CVC, CAVV text
	ID, Original, Test, Account            text
	Prepaid                                partApproval
	Messages                               []message
	Errors                                 []failure
	NetworkTransactionID                   text
}

func (t *transactionResponse) field(name string) element {
	switch name {
	case "responseCode":
		return &t.ResponseCode
	case "authCode":
		return &t.AuthCode
	case "avsResultCode":
		return &t.AVS
	case "cvvResultCode":
		return &t.CVC
	case "cavvResultCode":
		return &t.CAVV
	case "transId":
		return &t.ID
	case "refTransID":
		return &t.Original
	case "testRequest":
		return &t.Test
	case "accountNumber":
		return &t.Account
	case "prePaidCard":
		return fields(t.Prepaid.field)
	case "messages":
		return several(&t.Messages, "message", (*message).field)
	case "errors":
		return several(&t.Errors, "error", (*failure).field)
	case "networkTransId":
		return &t.NetworkTransactionID
	}
	return nil
}

// partApproval is an approval of a part.
type partApproval struct{ Requested, Approved, Balance text }

func (p *partApproval) field(name string) element {
	switch name {
	case "requestedAmount":
		return &p.Requested
	case "approvedAmount":
		return &p.Approved
	case "balanceOnCard":
		return &p.Balance
	}
	return nil
}

// details is a transaction of the account, as it is now.
type details struct {
	timely                                  bool // as of the document
	ID, Original, SubmittedAt, Type, Status text
	ResponseCode, Reason, AuthCode          text
	AVS, CVC, CAVV                          text
	Order                                   struct{ Invoice text }
	Requested, Authorized, Settled, Balance text
	Payment                                 source
	NetworkTransactionID                    text
}

func (d *details) field(name string) element {
	if of := d.amount(name); of != nil {
		return of
	}
	switch name {
	case "transId":
		return &d.ID
	case "refTransId":
		return &d.Original
	case "submitTimeUTC":
		return &d.SubmittedAt
	case "transactionType":
		return &d.Type
	case "transactionStatus":
		return &d.Status
	case "responseCode":
		return &d.ResponseCode
	case "responseReasonCode":
		return &d.Reason
	case "authCode":
		return &d.AuthCode
	case "AVSResponse":
		return &d.AVS
	case "cardCodeResponse":
		return &d.CVC
	case "CAVVResponse":
		return &d.CAVV
	case "order":
		return only("invoiceNumber", &d.Order.Invoice)
	case "payment":
		return fields(d.Payment.field)
	case "networkTransId":
		return &d.NetworkTransactionID
	}
	return nil
}

// amount returns the element of an amount.
func (d *details) amount(name string) element {
	switch name {
	case "requestedAmount":
		return &d.Requested
	case "authAmount":
		return &d.Authorized
	case "settleAmount":
		return &d.Settled
	case "prepaidBalanceRemaining":
		return &d.Balance
	}
	return nil
}

// source is the payment source of a transaction.
type source struct {
	Card, Token *struct{ Number text }
	Bank        *bank
}

func (s *source) field(name string) element {
	switch name {
	case "creditCard":
		if s.Card == nil {
			s.Card = &struct{ Number text }{}
		}
		return only("cardNumber", &s.Card.Number)
	case "tokenInformation":
		if s.Token == nil {
			s.Token = &struct{ Number text }{}
		}
		return only("tokenNumber", &s.Token.Number)
	case "bankAccount":
		if s.Bank == nil {
			s.Bank = &bank{}
		}
		return fields(s.Bank.field)
	}
	return nil
}

// bank is a bank account.
type bank struct{ Type, Routing, Number, Holder text }

func (b *bank) field(name string) element {
	switch name {
	case "accountType":
		return &b.Type
	case "routingNumber":
		return &b.Routing
	case "accountNumber":
		return &b.Number
	case "nameOnAccount":
		return &b.Holder
	}
	return nil
}

// row is a transaction of a list.
type row struct{ ID, SubmittedAt, Status, Invoice, Settled text }

func (r *row) field(name string) element {
	switch name {
	case "transId":
		return &r.ID
	case "submitTimeUTC":
		return &r.SubmittedAt
	case "transactionStatus":
		return &r.Status
	case "invoiceNumber":
		return &r.Invoice
	case "settleAmount":
		return &r.Settled
	}
	return nil
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
	if err := out.read(d); err != nil || !ends(d) {
		return nil, fmt.Errorf("providera: %w: malformed response", acquirer.ErrUnknown)
	}
	root := out.root
	if root.Space != namespace || root.Local != method+"Response" && root.Local != errorRoot {
		return nil, fmt.Errorf("providera: %w: response of another method", acquirer.ErrUnknown)
	}
	if result := out.Messages.Result.value; result != resultOK && result != resultError {
		return nil, fmt.Errorf("providera: %w: response without a result code", acquirer.ErrUnknown)
	}
	return &out, nil
}

// read reads a document.
func (d *document) read(from *xml.Decoder) error {
	for {
		token, err := from.Token()
		if err != nil {
			return err //nolint:wrapcheck // parse replaces it
		}
		if root, found := token.(xml.StartElement); found {
			d.root = root.Name
			return fields(d.field).read(from)
		}
	}
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
	return d.Messages.Result.value == resultOK && d.root.Local != errorRoot
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
