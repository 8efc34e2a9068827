package wire

// Transaction is the tree of the transaction details; empty members are left out.
type Transaction struct {
	ID               string                 `json:"id"`
	RootID           string                 `json:"rootId,omitzero"`
	ReconciliationID string                 `json:"reconciliationId,omitzero"`
	MerchantID       string                 `json:"merchantId,omitzero"`
	SubmitTimeUTC    string                 `json:"submitTimeUTC"` // capitals, here alone
	Status           string                 `json:"status,omitzero"`
	Application      *Application           `json:"applicationInformation,omitempty"`
	ClientReference  *ClientReferenceAnswer `json:"clientReferenceInformation,omitempty"`
	ErrorInformation *ErrorInformation      `json:"errorInformation,omitempty"`
	Order            *OrderAnswer           `json:"orderInformation,omitempty"`
	Payment          *PaymentAnswer         `json:"paymentInformation,omitempty"`
	Processor        *Processor             `json:"processorInformation,omitempty"`
	Links            *TransactionLinks      `json:"_links,omitempty"`
}

// TransactionLinks are the addresses of a transaction's details and of related ones.
type TransactionLinks struct {
	Self    *Link  `json:"self,omitempty"`
	Related []Link `json:"relatedTransactions,omitempty"`
}

// Application names the executed steps.
type Application struct {
	Status       string              `json:"status,omitzero"`
	ReasonCode   string              `json:"reasonCode,omitzero"`
	RCode        string              `json:"rCode,omitzero"`
	RFlag        string              `json:"rFlag,omitzero"`
	Applications []ApplicationResult `json:"applications,omitempty"`
}

// ApplicationResult is one thing that was done, under its old name.
type ApplicationResult struct {
	Name             string `json:"name"`
	Status           string `json:"status,omitzero"`
	ReasonCode       string `json:"reasonCode,omitzero"`
	RCode            string `json:"rCode,omitzero"`
	RFlag            string `json:"rFlag,omitzero"`
	ReconciliationID string `json:"reconciliationId,omitzero"`
}
