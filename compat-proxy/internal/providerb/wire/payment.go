package wire

// Payment is the payment source.
type Payment struct {
	Card                   Card          `json:"card"`
	TokenizedCard          TokenizedCard `json:"tokenizedCard"`
	FluidData              FluidData     `json:"fluidData"`
	Customer               Customer      `json:"customer"`
	PaymentInstrument      Identified    `json:"paymentInstrument"`
	InstrumentIdentifier   Identified    `json:"instrumentIdentifier"`
	ShippingAddress        Identified    `json:"shippingAddress"`
	LegacyToken            Identified    `json:"legacyToken"`
	TokenizedPaymentMethod Identified    `json:"tokenizedPaymentMethod"`
	ThirdPartyToken        Identified    `json:"thirdPartyToken"`
	Bank                   Bank          `json:"bank"`
	PaymentType            PaymentType   `json:"paymentType"`
	EWallet                EWallet       `json:"eWallet"`
}

// Card is a card with its full number.
type Card struct {
	Number                Hidden `json:"number"`
	ExpirationMonth       Text   `json:"expirationMonth"`
	ExpirationYear        Text   `json:"expirationYear"`
	Type                  Text   `json:"type"`
	SecurityCode          Hidden `json:"securityCode"`
	SecurityCodeIndicator Text   `json:"securityCodeIndicator"`
}

// TokenizedCard is a network token.
type TokenizedCard struct {
	Number          Hidden `json:"number"`
	ExpirationMonth Text   `json:"expirationMonth"`
	ExpirationYear  Text   `json:"expirationYear"`
	Type            Text   `json:"type"`
	Cryptogram      Hidden `json:"cryptogram"`
	RequestorID     Text   `json:"requestorId"`
	TransactionType Text   `json:"transactionType"`
	SecurityCode    Hidden `json:"securityCode"`
}

// FluidData is the encrypted payment data of a wallet.
type FluidData struct {
	Value      Hidden `json:"value"`
	Descriptor Text   `json:"descriptor"`
}

// Customer is a stored customer. Older clients send customerId.
type Customer struct {
	ID         Text `json:"id"`
	CustomerID Text `json:"customerId"`
}

// Identified is a reference to an object by its id.
type Identified struct {
	ID Text `json:"id"`
}

// Bank is a bank account with its routing number.
type Bank struct {
	Account       BankAccount `json:"account"`
	RoutingNumber Text        `json:"routingNumber"`
	IBAN          Hidden      `json:"iban"`
}

// BankAccount is the number and the type of a bank account.
type BankAccount struct {
	Type   Text   `json:"type"`
	Number Hidden `json:"number"`
	IBAN   Hidden `json:"iban"`
}

// PaymentType is the type of payment source.
type PaymentType struct {
	Name        Text `json:"name"`
	SubTypeName Text `json:"subTypeName"`
}

// EWallet is an account of an e-wallet.
type EWallet struct {
	AccountID Text `json:"accountId"`
}
