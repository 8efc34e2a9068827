package parity

import (
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Name is the name of a rule.
type Name string

// The rules. The table has the meaning of each.
const (
	BankDebitLimit     Name = "bank-debit-limit"
	BankAuthorization  Name = "bank-authorization"
	BankCreditReview   Name = "bank-credit-review"
	NetworkTokenCredit Name = "network-token-credit"
	ExpiredTrack       Name = "expired-track"
	RepeatedRefund     Name = "repeated-refund"
	RefundVoidLink     Name = "refund-void-link"
)

// Rule is one difference of a public sandbox.
type Rule struct {
	Name    Name
	Dialect string // as in the catalogue
	// Source is the evidence: the provider's document, or a client's test against the sandbox.
	Source string
	// Effect is what a sandbox login gets.
	Effect string
	// Amount is the amount of a rule with one, in minor units.
	Amount int64
}

// Rules are the rules in force for a request.
type Rules []Rule

// For returns the rules of a dialect for a login. A login without the setting sandbox has none, and
// neither has an API key of live mode.
func For(dialect string, sandbox bool, mode v1.Mode) Rules {
	if !sandbox || mode != v1.ModeTest {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(table), func(r Rule) bool { return r.Dialect != dialect })
}

// Find returns the rule of that name, and false if it is not in force.
func (r Rules) Find(name Name) (Rule, bool) {
	i := slices.IndexFunc(r, func(rule Rule) bool { return rule.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return r[i], true
}

// Has reports whether the rule of that name is in force.
func (r Rules) Has(name Name) bool {
	_, found := r.Find(name)
	return found
}

// All returns the whole table. The caller owns the slice.
func All() []Rule { return slices.Clone(table) }

// The remote tests of an open-source client against the sandboxes.
const (
	testsA = "ActiveMerchant, remote_authorize_net_test.rb: "
	testsB = "ActiveMerchant, remote_cyber_source_rest_test.rb: "
)

// table is the table of rules. Nothing changes it.
var table = []Rule{
	{
		Name: BankDebitLimit, Dialect: catalogue.ProviderA,
		Source: "Authorize.Net, testing guide, eCheck.Net: amounts above 100.00 are declined",
		Effect: "a debit of a bank account above 100.00 is declined before v1",
		Amount: 10000,
	},
	{
		Name: BankAuthorization, Dialect: catalogue.ProviderA,
		Source: testsA + "test_successful_echeck_authorization, test_failed_echeck_authorization, " +
			"test_successful_verify_with_check",
		Effect: "an authorization of a bank account is approved; v1 shows a debit that a void cancels",
	},
	{
		Name: BankCreditReview, Dialect: catalogue.ProviderA,
		Source: testsA + "test_successful_echeck_credit",
		Effect: "an unlinked refund to a bank account, which v1 makes, is reported as under review",
	},
	{
		Name: NetworkTokenCredit, Dialect: catalogue.ProviderA,
		Source: testsA + "test_successful_credit_with_network_tokenization",
		Effect: "an unlinked refund to a network token is a refund to a card with its number in v1",
	},
	{
		Name: ExpiredTrack, Dialect: catalogue.ProviderA,
		Source: testsA + "test_card_present_purchase_with_track_data_only, " +
			"test_card_present_authorize_and_capture_with_track_data_only",
		Effect: "track data with a past expiry is charged; v1 shows the expiry 12/2099",
	},
	{
		Name: RepeatedRefund, Dialect: catalogue.ProviderB,
		Source: testsB + "test_successful_repeat_refund_transaction",
		Effect: "a refund of more than the rest, but not of more than was captured, is PENDING without a refund in v1",
	},
	{
		Name: RefundVoidLink, Dialect: catalogue.ProviderB,
		Source: testsB + "test_successful_refund, test_successful_partial_refund, " +
			"test_successful_repeat_refund_transaction",
		Effect: "the response to a refund has the link void, which is refused",
	},
}
