package operator

import (
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// ObjectAccount is the object of an Account.
const ObjectAccount = "account"

// Account is a merchant's account at an acquirer, without its credentials.
type Account struct {
	ID        string            `json:"id"` // acct_…
	Object    string            `json:"object"`
	Merchant  string            `json:"merchant"`
	Kind      string            `json:"kind"`
	Currency  string            `json:"currency"`
	Method    string            `json:"method"` // card or bank_account
	Second    bool              `json:"second"` // for failover
	BaseURL   string            `json:"base_url"`
	Settings  map[string]string `json:"settings"`
	Status    Status            `json:"status"`
	Version   int64             `json:"version"`
	CreatedAt v1.Time           `json:"created_at"`
	UpdatedAt v1.Time           `json:"updated_at"`
	RotatedAt v1.Time           `json:"rotated_at"` // when the credentials were last replaced
	// Activity is not in responses to changes, nor in audit records.
	Activity *AccountActivity `json:"activity,omitempty"`
}

// AccountActivity are the last calls of an account by one core: at most 256, of the last hour.
type AccountActivity struct {
	Calls        int     `json:"calls"`
	Approved     int     `json:"approved"`
	Declined     int     `json:"declined"`
	NotFound     int     `json:"not_found"`
	Unavailable  int     `json:"unavailable"`
	Unknown      int     `json:"unknown"`
	UnknownShare float64 `json:"unknown_share"` // 0 to 1
	// UnavailableShare is the share of calls without effect.
	UnavailableShare float64  `json:"unavailable_share"`
	MedianMS         int64    `json:"median_ms"`
	SlowestMS        int64    `json:"slowest_ms"`
	LastSuccessAt    *v1.Time `json:"last_success_at,omitempty"`
	// LastError is the cause of the last call without effect or with an unknown outcome.
	LastError   string   `json:"last_error,omitempty"`
	LastErrorAt *v1.Time `json:"last_error_at,omitempty"`
	// Unfinished is the number of steps of all cores that have had no outcome for a minute.
	Unfinished int64 `json:"unfinished_steps"`
}

// AccountList is a page of accounts, newest first.
type AccountList struct {
	Object  string    `json:"object"`
	Data    []Account `json:"data"`
	HasMore bool      `json:"has_more"`
}

// AccountCreate is the body of a create.
type AccountCreate struct {
	Merchant    string                   `json:"merchant"`
	Kind        string                   `json:"kind"`
	Currency    string                   `json:"currency"`
	Method      string                   `json:"method,omitempty"` // card if empty
	Second      bool                     `json:"second,omitempty"` // the account for failover
	BaseURL     string                   `json:"base_url"`
	Settings    map[string]string        `json:"settings,omitempty"` // of the kind
	Credentials map[string]secret.String `json:"credentials"`
	Unchecked   bool                     `json:"unchecked,omitempty"` // do not check the credentials first
}

// AccountRotate is the body of a rotate: all credentials of the account.
type AccountRotate struct {
	Credentials map[string]secret.String `json:"credentials"`
	Unchecked   bool                     `json:"unchecked,omitempty"`
}

// ObjectAccountCheck is the object of an AccountCheck.
const ObjectAccountCheck = "account_check"

// AccountCheck is the result of a successful check.
type AccountCheck struct {
	Object    string  `json:"object"`
	Account   string  `json:"account"`
	Accepted  bool    `json:"accepted"`
	CheckedAt v1.Time `json:"checked_at"`
}

// AccountHealth is an account as the health of the operators' port shows it.
type AccountHealth struct {
	ID            string   `json:"id"`
	Kind          string   `json:"kind"`
	Status        Status   `json:"status"`
	LastSuccessAt *v1.Time `json:"last_success_at,omitempty"`
	UnknownShare  float64  `json:"unknown_share"`
	// UnavailableShare is the share of recent calls without effect.
	UnavailableShare float64 `json:"unavailable_share"`
	// LastError is the cause of the last call without effect or with an unknown outcome.
	LastError   string   `json:"last_error,omitempty"`
	LastErrorAt *v1.Time `json:"last_error_at,omitempty"`
	Unfinished  int64    `json:"unfinished_steps"`
}

// Health is the health of the operators' port: v1's, and the accounts.
type Health struct {
	v1.Health
	Accounts     []AccountHealth `json:"accounts"`
	MoreAccounts bool            `json:"more_accounts,omitzero"` // there are more than the list has
}
