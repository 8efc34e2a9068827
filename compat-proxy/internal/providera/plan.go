package providera

import (
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// The transaction types; the others of the dialect are in decode.go with what refuses them.
const (
	typeSale      = "authCaptureTransaction"
	typeAuthorize = "authOnlyTransaction"
	typeCapture   = "priorAuthCaptureTransaction"
	typeVoid      = "voidTransaction"
	typeRefund    = "refundTransaction"
	typeForced    = "captureOnlyTransaction"
)

// plan is what a request comes to: commands to run, or a problem that answers it without asking v1.
type plan struct {
	Type     string            `json:"type"`
	Commands []command.Command `json:"commands,omitempty"`
	Problem  problem           `json:"problem,omitzero"`
	Echo     echo              `json:"echo"`
	// Wish is set when a profile is to be made of the payment.
	Wish *wish `json:"wish,omitempty"`
}

// echo is what the answer repeats of the request.
type echo struct {
	// Reference is refTransId, trimmed, for the types that are on another transaction.
	Reference string `json:"reference,omitempty"`
	// Account is the masked card number, "XXXX1111"; AccountType its brand's name. Either may be empty.
	Account     string `json:"account,omitempty"`
	AccountType string `json:"account_type,omitempty"`
	// Test is set by the testRequest setting: local checks only, nothing is stored.
	Test       bool    `json:"test,omitempty"`
	UserFields []field `json:"user_fields,omitempty"`
	// Profile is the stored profile that is charged, or that was made.
	Profile profileIDs `json:"profile,omitzero"`
}

// field is one user field.
type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// setting is what decoding depends on besides the request.
type setting struct {
	// currency is that of amounts which name none.
	currency string
	// unlinked allows refunds that name no payment.
	unlinked bool
	// zone is the merchant's, in which answers tell local times; nil means UTC.
	zone *time.Location
	// now is when the request came. It decides only which cards of test requests have expired.
	now time.Time
}
