package wire

// Answer is the tree of every answer; empty members are left out.
type Answer struct {
	Links            *Links                 `json:"_links,omitempty"`
	ID               string                 `json:"id,omitempty"`
	SubmitTimeUTC    string                 `json:"submitTimeUtc,omitempty"` // to the second
	Status           string                 `json:"status,omitempty"`
	Reason           string                 `json:"reason,omitempty"` // of what was not processed
	Message          string                 `json:"message,omitempty"`
	Details          []Detail               `json:"details,omitempty"`
	ReconciliationID string                 `json:"reconciliationId,omitempty"`
	ErrorInformation *ErrorInformation      `json:"errorInformation,omitempty"`
	ClientReference  *ClientReferenceAnswer `json:"clientReferenceInformation,omitempty"`
}

// Links are where to go on; paths begin with /pts/v2/, without host and mount.
type Links struct {
	Self         *Link `json:"self,omitempty"`
	AuthReversal *Link `json:"authReversal,omitempty"`
	Capture      *Link `json:"capture,omitempty"`
	Refund       *Link `json:"refund,omitempty"`
	Void         *Link `json:"void,omitempty"`
}

// Link is one of them.
type Link struct {
	Href   string `json:"href"`
	Method string `json:"method"`
}

// Detail names a field at fault.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// ErrorInformation tells why a request that was processed did not go through.
type ErrorInformation struct {
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// ClientReferenceAnswer echoes the client's name for the request.
type ClientReferenceAnswer struct {
	Code string `json:"code"`
}
