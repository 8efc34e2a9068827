package providerb

import (
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/shared/bankaccount"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// accountTypes maps the types of bank accounts to v1's.
var accountTypes = map[string]v1.BankAccountType{
	"":  v1.BankAccountTypeChecking,
	"C": v1.BankAccountTypeChecking,
	"S": v1.BankAccountTypeSavings,
	"X": v1.BankAccountTypeBusinessChecking,
}

// chargeBank charges a bank account. It is always captured immediately.
func (d *decoder) chargeBank(body *v1.TransactionCreate, c money.Currency) problem {
	in, billTo := &d.req.Payment.Bank, &d.req.Order.BillTo
	holder := strings.TrimSpace(string(billTo.FirstName + " " + billTo.LastName))
	if holder == "" {
		holder = string(billTo.Company)
	}
	accountType, known := accountTypes[strings.ToUpper(string(in.Account.Type))]
	switch {
	case in.Account.Number.IsZero():
		return missing("paymentInformation.bank.account.number")
	case in.RoutingNumber == "":
		return missing("paymentInformation.bank.routingNumber")
	case billTo.Country == "":
		return missing("orderInformation.billTo.country")
	case holder == "":
		return missing("orderInformation.billTo.firstName", "orderInformation.billTo.lastName")
	case !known:
		return invalid("paymentInformation.bank.account.type")
	case c.Code != "usd":
		return invalid(fieldCurrency)
	case !bankaccount.ValidRouting(string(in.RoutingNumber)):
		return invalid("paymentInformation.bank.routingNumber")
	}
	if number := in.Account.Number; number.Len() < 4 || number.Len() > 17 || !chars.Digits(number.Reveal()) {
		return invalid("paymentInformation.bank.account.number")
	}
	body.PaymentMethod = "bank_account"
	body.BankAccount = &v1.BankAccountInput{
		RoutingNumber: string(in.RoutingNumber), AccountNumber: in.Account.Number.String, AccountType: accountType,
		Holder: textsOf(d.req).cut(holder, maxLine),
	}
	return problem{}
}
