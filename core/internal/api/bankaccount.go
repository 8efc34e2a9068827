package api

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/bankaccount"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// bankCurrency is the currency of accounts with a routing number.
const bankCurrency = "usd"

// givenBankAccount checks a bank account. Only the parts that may be shown are stored.
func (a *API) givenBankAccount(t payment.Tenant, in *v1.BankAccountInput) (payer, error) {
	if in == nil {
		return payer{}, &fault{code: codeMissingField, param: kindBankAccount}
	}
	if f := bankAccountFault(in); f != nil {
		return payer{}, f
	}
	account := acquirer.BankAccount{
		Number: in.AccountNumber, RoutingNumber: in.RoutingNumber, Type: string(in.AccountType), Holder: in.Holder,
	}
	shown := &v1.BankAccount{
		Last4: bankaccount.Last4(in.AccountNumber.Reveal()), RoutingNumber: in.RoutingNumber, AccountType: in.AccountType, Holder: in.Holder,
		Fingerprint: a.fingerprint(t, secret.New(in.RoutingNumber+"|"+in.AccountNumber.Reveal())),
	}
	return payer{Source: acquirer.Source{BankAccount: account}, shown: shownSource{BankAccount: shown}}, nil
}

// bankAccountFault names the first field of an account with an impossible value.
func bankAccountFault(in *v1.BankAccountInput) *fault {
	switch {
	case in.AccountNumber.IsZero():
		return &fault{code: codeMissingField, param: "bank_account.account_number"}
	case !bankaccount.ValidNumber(in.AccountNumber.Reveal()):
		return &fault{code: codeInvalidValue, param: "bank_account.account_number", message: "The account number must have 4 to 17 digits."}
	case in.RoutingNumber == "":
		return &fault{code: codeMissingField, param: "bank_account.routing_number"}
	case !bankaccount.ValidRouting(in.RoutingNumber):
		return &fault{
			code: codeInvalidValue, param: "bank_account.routing_number", message: "The routing number must have nine digits with a correct ABA check digit.",
		}
	case in.AccountType == "":
		return &fault{code: codeMissingField, param: "bank_account.account_type"}
	case !in.AccountType.Valid():
		return &fault{
			code: codeInvalidValue, param: "bank_account.account_type", message: "The account type must be \"checking\", \"savings\" or \"business_checking\".",
		}
	case in.Holder == "":
		return &fault{code: codeMissingField, param: "bank_account.holder"}
	}
	return lengthFault(field{"bank_account.holder", &in.Holder, 255})
}

// debitFault refuses payments that a bank account cannot make: it is debited immediately, in its
// currency, and no card network authenticates it.
func (p *payer) debitFault(autoCapture bool, currency string, threeDS *v1.ThreeDSecureInput) *fault {
	switch {
	case p.shown.BankAccount == nil:
		return nil
	case !autoCapture:
		return &fault{
			code: codeInvalidValue, param: "capture", cause: p.basis,
			message: "With a bank account, capture must be \"automatic\".",
		}
	case currency != bankCurrency:
		return &fault{
			code: codeInvalidValue, param: "currency", cause: p.basis,
			message: "With a bank account, the currency must be \"usd\".",
		}
	case threeDS != nil:
		return &fault{
			code: codeInvalidValue, param: "three_d_secure", cause: p.basis,
			message: "3-D Secure is only for cards and network tokens. Omit it.",
		}
	}
	return nil
}
