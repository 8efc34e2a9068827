package payment

import "time"

// Event announces one transition. It is written in the transition's own commit.
type Event struct {
	ID        int64
	Tenant    Tenant
	Type      string // such as transaction.captured
	Object    int64  // the number of the object's id
	Sequence  int64  // the object's version after the transition
	Data      []byte // the object as the contract shows it
	CreatedAt time.Time
	// Personal reports that Data can have personal data of a deleted customer: the event is not erased
	// yet. A response or delivery shows the event as it will be after its erasure.
	Personal bool
}

// Broadcast is an announcement to all merchants of one moment, one after the other.
type Broadcast struct {
	Type       string
	Name       string // unique among the broadcasts of its type
	Data       []byte // the object that the events show
	Until      int64  // the newest merchant of that moment
	Place      int64  // the last merchant that was handled
	Told       int64  // how many merchants got events
	CreatedAt  time.Time
	FinishedAt time.Time // zero until all merchants were handled
}
