package api

import (
	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// forPayer reduces the response to a confirmation to the part that the payer may see. The result
// depends only on the response, so replays are equal.
func forPayer(body []byte) []byte {
	var refused v1.ErrorBody
	if json.Unmarshal(body, &refused) == nil && refused.Error.Code != "" {
		refused.Error.DeclineCode = declineForPayer(refused.Error.DeclineCode)
		if t := refused.Error.Transaction; t != nil {
			refused.Error.Transaction = transactionForPayer(t)
		}
		return encode(&refused)
	}
	var t v1.Transaction
	decodeDetails(body, &t)
	return encode(transactionForPayer(&t))
}

// transactionForPayer keeps the fields for the payer: the amount, the source and the outcome.
func transactionForPayer(t *v1.Transaction) *v1.Transaction {
	return &v1.Transaction{
		ID: t.ID, Object: t.Object, Mode: t.Mode, Status: t.Status, Amount: t.Amount, Currency: t.Currency,
		AmountAuthorized: t.AmountAuthorized, AmountCaptured: t.AmountCaptured, AmountRefunded: t.AmountRefunded,
		AmountCapturable: t.AmountCapturable, AmountRefundable: t.AmountRefundable, Settlement: t.Settlement, Capture: t.Capture,
		PartialAuthorization: t.PartialAuthorization, PaymentMethod: t.PaymentMethod, Card: cardForPayer(t.Card),
		NetworkToken: t.NetworkToken, BankAccount: accountForPayer(t.BankAccount),
		DeclineCode: declineForPayer(t.DeclineCode), StatementDescriptor: t.StatementDescriptor, Metadata: v1.Metadata{},
		Version: t.Version, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

// cardForPayer omits the holder's name, because a stored card may belong to another person.
func cardForPayer(c *v1.Card) *v1.Card {
	if c == nil {
		return nil
	}
	out := *c
	out.Holder = nil
	return &out
}

// accountForPayer leaves out the holder's name.
func accountForPayer(b *v1.BankAccount) *v1.BankAccount {
	if b == nil {
		return nil
	}
	out := *b
	out.Holder = ""
	return &out
}

// declineForPayer returns the category of a decline. It does not reveal whether the number, the
// date, the security code or the address was wrong, because an attacker could then guess them. It
// does not reveal that the card is known to be stolen either.
func declineForPayer(code *v1.DeclineCode) *v1.DeclineCode {
	if code == nil {
		return nil
	}
	category := v1.DeclineCodeGenericDecline
	switch *code {
	case v1.DeclineCodeInsufficientFunds, v1.DeclineCodeLimitExceeded:
		category = v1.DeclineCodeInsufficientFunds
	case v1.DeclineCodeCardNotSupported, v1.DeclineCodeProcessingError:
		category = *code
	case v1.DeclineCodeGenericDecline, v1.DeclineCodeCallIssuer, v1.DeclineCodeExpiredCard, v1.DeclineCodeIncorrectCvc,
		v1.DeclineCodeIncorrectAddress, v1.DeclineCodeDoNotHonor, v1.DeclineCodeLostCard, v1.DeclineCodeStolenCard,
		v1.DeclineCodePickupCard, v1.DeclineCodeSuspectedFraud, v1.DeclineCodeRetryNotAllowed:
	}
	return &category
}
