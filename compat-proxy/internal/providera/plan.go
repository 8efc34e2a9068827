package providera

import (
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The transaction types that are served. decode.go has the others.
const (
	typeSale      = "authCaptureTransaction"
	typeAuthorize = "authOnlyTransaction"
	typeCapture   = "priorAuthCaptureTransaction"
	typeVoid      = "voidTransaction"
	typeRefund    = "refundTransaction"
	typeForced    = "captureOnlyTransaction"
)

// plan is a decoded request: a command to run, or a problem that decides the response without v1.
type plan struct {
	Type    string          `json:"type"`
	Command command.Command `json:"command,omitempty"`
	Problem problem         `json:"problem,omitzero"`
	Echo    echo            `json:"echo"`
	// Held is set if a request that v1 executes is reported as under review.
	Held bool `json:"held,omitempty"`
	// Number is the number of a decline without a payment in v1.
	Number string `json:"number,omitempty"`
	// NewProfile is set if the payment's data becomes a profile.
	NewProfile *profileRequest `json:"new_profile,omitempty"`
	// Hash computes the response's transHashSha2.
	Hash transHash `json:"-"`
}

// all returns the command, and the one that makes a profile of the payment's data.
func (p plan) all() []command.Command {
	if p.NewProfile == nil || p.NewProfile.Command == nil {
		return []command.Command{p.Command}
	}
	return []command.Command{p.Command, p.NewProfile.Command}
}

// echo holds the values of the request that the response repeats.
type echo struct {
	// Reference is the trimmed refTransId, for the types that refer to another transaction.
	Reference string `json:"reference,omitempty"`
	// Account is the masked card number, "XXXX1111". AccountType is its brand's name. Either may be
	// empty.
	Account     string `json:"account,omitempty"`
	AccountType string `json:"account_type,omitempty"`
	// Test is set by the testRequest setting: only local checks run, and nothing is stored.
	Test       bool    `json:"test,omitempty"`
	UserFields []field `json:"user_fields,omitempty"`
	// Profile is the stored profile that is charged, or the new one.
	Profile profileIDs `json:"profile,omitzero"`
}

// field is one user field.
type field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// basis holds the inputs of decoding besides the request.
type basis struct {
	// currency is the default for amounts without one.
	currency string
	// unlinked allows refunds without a payment.
	unlinked bool
	// named reports that the client sent an Idempotency-Key.
	named bool
	// signatureKey is the decoded key of transHashSha2; zero for none.
	signatureKey secret.String
	// zone is the merchant's time zone, for the local times in responses; nil means UTC.
	zone *time.Location
	// now is when the request arrived. It only decides which cards of test requests, and which tracks
	// of sandbox logins, have expired.
	now time.Time
	// rules are the rules of a sandbox login.
	rules parity.Rules
}
