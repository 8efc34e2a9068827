package payment

import (
	"cmp"
	"time"
	"unicode/utf8"
)

// maxMerchantName is how many characters a merchant's name may have.
const maxMerchantName = 200

// Merchant is a merchant of the service.
type Merchant struct {
	ID         int64
	Name       string
	TimeZone   string // IANA name
	Cutoff     int    // minutes after local midnight, when its day ends
	CreatedAt  time.Time
	DisabledAt time.Time // zero while it is in service
	// UnlinkedRefunds allows refunds to a card or bank account that no payment was taken from.
	UnlinkedRefunds bool
	Retention       Retention
}

// MerchantChange is a change of a merchant. "", nil and a negative cut-off change nothing.
type MerchantChange struct {
	Name            string
	TimeZone        string
	Cutoff          int
	UnlinkedRefunds *bool
	Personal        *int // days; 0 for the service's default period
	Customers       *int
}

// Retention is how long a merchant's personal data is kept, in days. 0 is the period of the
// service.
type Retention struct {
	Personal  int // personal data of payments
	Customers int // customers without a payment or a change
}

// Or returns the periods that apply to a merchant: its own, else the periods of the service.
func (r Retention) Or(service Retention) Retention {
	return Retention{
		Personal: cmp.Or(r.Personal, service.Personal), Customers: cmp.Or(r.Customers, service.Customers),
	}
}

// LeastKeepPersonal is the shortest time for which the personal data of a transaction is kept after
// its creation, and after its last refund. Refunds and disputes need it that long.
const LeastKeepPersonal = 60 * 24 * time.Hour

// mostKeepDays are a hundred years.
const mostKeepDays = 36525

// ValidKeepDays reports whether a merchant can have a period of this many days. 0 is the period of
// the service.
func ValidKeepDays(days int) bool {
	return days == 0 || days >= int(LeastKeepPersonal/(24*time.Hour)) && days <= mostKeepDays
}

// ValidMerchantName reports whether a merchant may have this name.
func ValidMerchantName(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxMerchantName
}

// ValidTimeZone reports whether name is the IANA name of a time zone.
func ValidTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local" // "Local" is the machine's zone, not a merchant's
}
