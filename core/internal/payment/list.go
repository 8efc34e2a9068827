package payment

import (
	"errors"
	"time"
)

// ErrNotFound reports that the tenant has no such object.
var ErrNotFound = errors.New("payment: not found")

// Errors of lists.
var (
	// ErrListTimeout reports a list that did not end in its time. A narrower filter may help.
	ErrListTimeout = errors.New("payment: the list did not end in time")
	// ErrTooManyLists reports that a merchant's other lists run or wait.
	ErrTooManyLists = errors.New("payment: too many lists of the merchant are in progress or waiting")
)

// ErrTooManyChanges reports that a merchant's other changes run or wait. Nothing was changed.
var ErrTooManyChanges = errors.New("payment: too many changes of the merchant are in progress or waiting")

// ErrTooManyReads reports that a merchant's other reads run or wait.
var ErrTooManyReads = errors.New("payment: too many reads of the merchant are in progress or waiting")

// Page selects one page of a list. Lists are newest first. After and Before are ids, 0 for none,
// and exclude each other.
type Page struct {
	Limit  int
	After  int64 // the page begins after this id: older rows
	Before int64 // the page ends before this id: newer rows
}

// List is one page.
type List[T any] struct {
	Rows []T
	More bool // the list has further rows in the direction of the page
}

// Found is the objects that were found for a list of ids.
type Found[T any] struct {
	ByID map[int64]T
	// Read is the number of ids that were looked up, from the first one. Long objects end a read
	// early.
	Read int
}

// TransactionFilter narrows a list of transactions. A zero field sets no condition, and all
// conditions must hold.
type TransactionFilter struct {
	// Statuses and Settlements are the values that a transaction may have, with commas between them.
	Statuses        string
	Settlements     string
	Day             int64  // the settlement day in which one of its captures settled
	Customer        string // as the contract writes its id
	Reference       string
	CardFingerprint string
	Currency        string // ISO 4217, lower case
	Amount          *int64 // minor units; nil for any, since 0 is an amount
	Metadata        MetadataFilter
	After           time.Time // created after this moment
	Before          time.Time // created before this moment
}

// StepFilter narrows a list of captures or refunds. A zero field sets no condition.
type StepFilter struct {
	Transaction int64
	Settlement  Settlement
	Day         int64  // the settlement day in which they settled
	Customer    string // of the transactions of refunds; captures are not found by it
	Metadata    MetadataFilter
}

// DayFilter narrows a list of settlement days. A zero field sets no condition.
type DayFilter struct {
	After  time.Time // ended after this moment
	Before time.Time // ended before this moment
}

// MetadataFilter is a JSON object with the entries that the metadata of an object must have, with
// these values. "" sets no condition.
type MetadataFilter string

// Terms are the values by which a list finds a transaction without a scan.
type Terms struct {
	Customer  string // as the contract writes its id, "" for none
	Reference string // the merchant's own, "" for none
}

// CustomerFilter narrows a list of customers. A zero field sets no condition, and both conditions
// must hold.
type CustomerFilter struct {
	Reference string
	Email     string
	Metadata  MetadataFilter
}

// MethodFilter narrows a list of payment methods. A zero field sets no condition.
type MethodFilter struct {
	Fingerprint string
	Metadata    MetadataFilter
}

// EventFilter narrows a list of events. The zero filter selects all.
type EventFilter struct {
	Type   string
	Kind   string // kind of Object, the part of the type before its dot; only with Object
	Object int64
	After  time.Time // created later than this
	Before time.Time // created earlier than this
}
