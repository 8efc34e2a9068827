package payment

import (
	"time"
	"unicode/utf8"
)

// maxMerchantName is how many characters a merchant's name may have.
const maxMerchantName = 200

// ValidMerchantName reports whether a merchant may have this name.
func ValidMerchantName(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxMerchantName
}

// ValidTimeZone reports whether name is the IANA name of a time zone.
func ValidTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local" // "Local" is the machine's zone, not a merchant's
}

// ValidCutoff reports whether a day can end so many minutes after midnight.
func ValidCutoff(minutes int) bool { return minutes >= 0 && minutes < DayMinutes }
