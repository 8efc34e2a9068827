package payment

import (
	"time"
	"unicode/utf8"
)

// maxMerchantName is how many characters a merchant's name may have.
const maxMerchantName = 200

// ValidMerchantName says whether a merchant may be called so.
func ValidMerchantName(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxMerchantName
}

// ValidTimeZone says whether name is the IANA name of a time zone.
func ValidTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local" // which is the machine's, so nobody's
}

// ValidCutoff says whether a day can end so many minutes after midnight.
func ValidCutoff(minutes int) bool { return minutes >= 0 && minutes < DayMinutes }
