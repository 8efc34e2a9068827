package api

import v1 "github.com/causeway-pay/causeway/shared/v1"

// declineMessages are the messages of declined payments, by category. A shop can show them to the
// payer. So they reveal no more than the category: see declineForPayer.
var declineMessages = map[v1.DeclineCode]string{
	v1.DeclineCodeGenericDecline: "The payment was declined. Use another card or account, or contact the bank that " +
		"issued it.",
	v1.DeclineCodeInsufficientFunds: "The payment was declined, because the balance or a limit of the card or account " +
		"does not allow this amount. Use another one.",
	v1.DeclineCodeCardNotSupported: "The payment was declined, because this card or account cannot be used for it. Use " +
		"another one.",
	v1.DeclineCodeProcessingError: "The payment could not be processed. Try again in a few minutes, or use another card " +
		"or account.",
}

// declineMessage returns the message of a declined payment. Secret and publishable keys get the
// same one.
func declineMessage(code *v1.DeclineCode) string {
	category := v1.DeclineCodeGenericDecline
	if c := declineForPayer(code); c != nil {
		category = *c
	}
	return declineMessages[category]
}
