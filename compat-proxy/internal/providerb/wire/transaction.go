package wire

// Transaction is the body of the transaction details. Empty members are omitted.
type Transaction struct {
	ID               string                   `json:"id"`
	RootID           string                   `json:"rootId,omitzero"`
	ReconciliationID string                   `json:"reconciliationId,omitzero"`
	MerchantID       string                   `json:"merchantId,omitzero"`
	SubmitTimeUTC    string                   `json:"submitTimeUTC"` // written in capitals only here
	Status           string                   `json:"status,omitzero"`
	Application      *Application             `json:"applicationInformation,omitempty"`
	ClientReference  *ClientReferenceResponse `json:"clientReferenceInformation,omitempty"`
	ErrorInformation *ErrorInformation        `json:"errorInformation,omitempty"`
	Order            *OrderResponse           `json:"orderInformation,omitempty"`
	Payment          *PaymentResponse         `json:"paymentInformation,omitempty"`
	Processor        *Processor               `json:"processorInformation,omitempty"`
	Links            *TransactionLinks        `json:"_links,omitempty"`
}

// TransactionLinks are the paths of the details of a transaction and of related transactions.
type TransactionLinks struct {
	Self    *Link  `json:"self,omitempty"`
	Related []Link `json:"relatedTransactions,omitempty"`
}

// Mount puts the mount path before each link. The receiver may be nil.
func (l *TransactionLinks) Mount(prefix string) {
	if l == nil {
		return
	}
	mount(prefix, l.Self)
	for i := range l.Related {
		mount(prefix, &l.Related[i])
	}
}

// Application holds the result of each executed service.
type Application struct {
	Status       string              `json:"status,omitzero"`
	ReasonCode   int                 `json:"reasonCode,omitzero"` // a number only here
	RCode        string              `json:"rCode,omitzero"`
	RFlag        string              `json:"rFlag,omitzero"`
	Applications []ApplicationResult `json:"applications,omitempty"`
}

// ApplicationResult is the result of one service, with its name in the older API.
type ApplicationResult struct {
	Name             string `json:"name"`
	Status           string `json:"status,omitzero"`
	ReasonCode       string `json:"reasonCode,omitzero"`
	RCode            string `json:"rCode,omitzero"`
	RFlag            string `json:"rFlag,omitzero"`
	ReconciliationID string `json:"reconciliationId,omitzero"`
	RMessage         string `json:"rMessage,omitzero"`
	ReturnCode       int    `json:"returnCode,omitzero"`
}
