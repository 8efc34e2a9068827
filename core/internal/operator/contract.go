package operator

import (
	_ "embed" // the document

	"github.com/go-json-experiment/json/jsontext"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Root is the beginning of every path of the operator's API.
const Root = "/admin/v1"

//go:embed admin.openapi.yaml
var openAPI string

// OpenAPI returns the contract: an OpenAPI 3.0 document in YAML. The caller may keep and change the
// copy.
func OpenAPI() []byte { return []byte(openAPI) }

// Status is whether a merchant is in service.
type Status string

// The statuses of merchants.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled" // its API keys are refused
)

// ObjectMerchant is the object of a Merchant.
const ObjectMerchant = "merchant"

// Merchant is a merchant that takes payments.
type Merchant struct {
	ID              string `json:"id"`
	Object          string `json:"object"`
	Name            string `json:"name"`
	Status          Status `json:"status"`
	TimeZone        string `json:"time_zone"`        // IANA name
	Cutoff          string `json:"cutoff"`           // HH:MM, when the merchant's day ends there
	UnlinkedRefunds bool   `json:"unlinked_refunds"` // it may refund to cards and accounts without a payment
	// Days after which personal data of payments is erased, and after which inactive customers are
	// deleted. Absent: the period of the service.
	KeepPersonalDays  int `json:"keep_personal_data_days,omitzero"`
	KeepCustomersDays int `json:"keep_customers_days,omitzero"`

	CreatedAt  v1.Time  `json:"created_at"`
	DisabledAt *v1.Time `json:"disabled_at,omitempty"`
}

// MerchantList is a page of merchants, newest first.
type MerchantList struct {
	Object  string     `json:"object"`
	Data    []Merchant `json:"data"`
	HasMore bool       `json:"has_more"`
}

// MerchantUpdate is the body of an update, or of a create, which needs a name. A nil field stays as
// it is.
type MerchantUpdate struct {
	Name            *string `json:"name,omitempty"`
	TimeZone        *string `json:"time_zone,omitempty"`
	Cutoff          *string `json:"cutoff,omitempty"`
	UnlinkedRefunds *bool   `json:"unlinked_refunds,omitempty"`
	// Days, 0 for the period of the service.
	KeepPersonalDays  *int `json:"keep_personal_data_days,omitempty"`
	KeepCustomersDays *int `json:"keep_customers_days,omitempty"`
}

// APIKeyCreate is the body of a create of an API key.
type APIKeyCreate struct {
	Mode      v1.Mode       `json:"mode"`
	Kind      v1.APIKeyKind `json:"kind"`
	Name      *string       `json:"name,omitempty"`
	Scopes    *[]v1.Scope   `json:"scopes,omitempty"`
	ExpiresAt *v1.Time      `json:"expires_at,omitempty"`

	AllowedAddresses *[]string `json:"allowed_addresses,omitempty"`
	AllowedOrigins   *[]string `json:"allowed_origins,omitempty"`
}

// EventCreate is the body of an announcement. A merchant gets one event for each type and name.
type EventCreate struct {
	Mode   v1.Mode        `json:"mode"`
	Type   v1.EventType   `json:"type"`
	Name   string         `json:"name"`
	Object jsontext.Value `json:"object"`
}

// BroadcastCreate is the body of an announcement to all merchants. Each merchant gets one event for
// each type and name.
type BroadcastCreate struct {
	Type   v1.EventType   `json:"type"`
	Name   string         `json:"name"`
	Object jsontext.Value `json:"object"`
}

// ObjectBroadcast is the object of a Broadcast.
const ObjectBroadcast = "broadcast"

// BroadcastStatus is whether all merchants have the event.
type BroadcastStatus string

// The statuses of broadcasts.
const (
	Telling BroadcastStatus = "telling"
	Told    BroadcastStatus = "told"
)

// Broadcast is an announcement to all merchants, with its progress.
type Broadcast struct {
	Object     string          `json:"object"`
	Type       v1.EventType    `json:"type"`
	Name       string          `json:"name"`
	Status     BroadcastStatus `json:"status"`
	Merchants  int64           `json:"merchants"` // merchants that got their events so far
	CreatedAt  v1.Time         `json:"created_at"`
	FinishedAt *v1.Time        `json:"finished_at,omitempty"`
}

// ObjectStep is the object of an UnfinishedStep.
const ObjectStep = "step"

// UnfinishedStep is a request to the acquirer whose outcome is not known, or a pending reversal.
type UnfinishedStep struct {
	ID string `json:"id"` // rev_… of a pending reversal, otherwise Reference
	// the acquirer's, of the attempt; of a reversal: of the step that it reverses
	Reference   string   `json:"reference"`
	Object      string   `json:"object"`
	Kind        string   `json:"kind"` // authorize, void, capture, refund, credit (an unlinked refund) or reversal
	Merchant    string   `json:"merchant"`
	Mode        v1.Mode  `json:"mode"`
	Transaction string   `json:"transaction,omitempty"`
	Account     string   `json:"account,omitempty"` // of the merchant at the acquirer; "" for the simulator
	Amount      int64    `json:"amount"`            // minor units
	Currency    string   `json:"currency"`
	Held        int64    `json:"held,omitempty"` // minor units that the acquirer reported as approved; of a reversal
	Since       v1.Time  `json:"since"`
	Attempts    int64    `json:"attempts"` // of recovery
	Refused     int64    `json:"refused,omitempty"`
	Running     bool     `json:"running"` // the last attempt has no result yet, or its process ended
	LastError   string   `json:"last_error,omitempty"`
	AttemptedAt *v1.Time `json:"attempted_at,omitempty"`
	// missing before the first attempt, and if the step waits for an operator
	NextAttemptAt    *v1.Time `json:"next_attempt_at,omitempty"`
	WaitsForOperator bool     `json:"waits_for_operator"` // recovery makes no more attempts
	Outcome          string   `json:"outcome,omitempty"`  // of a step that was resolved
	Reason           string   `json:"reason,omitempty"`
	AcquirerID       string   `json:"acquirer_id,omitempty"`    // that the operator gave
	APIKey           string   `json:"api_key,omitempty"`        // of the request
	ClientAddress    string   `json:"client_address,omitempty"` // of the request
}

// StepList is a page of steps, oldest first.
type StepList struct {
	Object  string           `json:"object"`
	Data    []UnfinishedStep `json:"data"`
	HasMore bool             `json:"has_more"`
}

// StepResolve is the body of a resolve.
type StepResolve struct {
	Outcome string `json:"outcome"` // approved, declined or no_effect; released of a reversal
	Reason  string `json:"reason"`  // 10 to 500 characters
	// AcquirerID is the acquirer's id of a step that is approved. Later steps name it.
	AcquirerID string `json:"acquirer_id,omitempty"`
	// AsOf is the time of the acquirer's records, which an approval needs.
	AsOf *v1.Time `json:"as_of,omitempty"`
}

// ObjectSettlementException is the object of a SettlementException.
const ObjectSettlementException = "settlement_exception"

// SettlementException is a capture of live mode whose acquirer has not reported its settlement for
// days, or has reported that it failed.
type SettlementException struct {
	ID          string  `json:"id"` // of the capture
	Object      string  `json:"object"`
	Kind        string  `json:"kind"` // unreported or failed
	Merchant    string  `json:"merchant"`
	Transaction string  `json:"transaction"`
	Account     string  `json:"account"`
	AcquirerID  string  `json:"acquirer_id,omitempty"` // the acquirer's id of the capture or sale
	Amount      int64   `json:"amount"`                // minor units
	Currency    string  `json:"currency"`
	CapturedAt  v1.Time `json:"captured_at"`
	Since       v1.Time `json:"since"`
	Report      string  `json:"report,omitempty"`  // the acquirer's word
	Outcome     string  `json:"outcome,omitempty"` // of an exception that was resolved
	Reason      string  `json:"reason,omitempty"`
}

// SettlementExceptionList is a page of settlement exceptions, oldest capture first.
type SettlementExceptionList struct {
	Object  string                `json:"object"`
	Data    []SettlementException `json:"data"`
	HasMore bool                  `json:"has_more"`
}

// SettlementResolve is the body of a resolve.
type SettlementResolve struct {
	Outcome string `json:"outcome"` // settled or not_settled
	Reason  string `json:"reason"`  // 10 to 500 characters
	// DespiteFailedReport is required for settled if the acquirer's report is that it failed.
	DespiteFailedReport bool `json:"despite_failed_report,omitempty"`
}
