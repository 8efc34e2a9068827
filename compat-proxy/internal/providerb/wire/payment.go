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

// Card is a card as typed.
type Card struct {
	Number                Hidden `json:"number"`
	ExpirationMonth       Text   `json:"expirationMonth"`
	ExpirationYear        Text   `json:"expirationYear"`
	Type                  Text   `json:"type"`
	SecurityCode          Hidden `json:"securityCode"`
	SecurityCodeIndicator Text   `json:"securityCodeIndicator"`
}

// TokenizedCard is a network's stand-in for a card.
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

// FluidData is a wallet's encrypted blob.
type FluidData struct {
	Value      Hidden `json:"value"`
	Descriptor Text   `json:"descriptor"`
}

// Customer is a stored customer; old clients name it by customerId.
type Customer struct {
	ID         Text `json:"id"`
	CustomerID Text `json:"customerId"`
}

// Identified is an object named by an id alone.
type Identified struct {
	ID Text `json:"id"`
}

// Bank is an account at a bank.
type Bank struct {
	Account       BankAccount `json:"account"`
	RoutingNumber Text        `json:"routingNumber"`
	IBAN          Hidden      `json:"iban"`
}

// BankAccount is the account itself.
type BankAccount struct {
	Type   Text   `json:"type"`
	Number Hidden `json:"number"`
	IBAN   Hidden `json:"iban"`
}

// PaymentType names what kind of payment it is.
type PaymentType struct {
	Name Text `json:"name"`
}

// EWallet is an account at an alternative method.
type EWallet struct {
	AccountID Text `json:"accountId"`
}
