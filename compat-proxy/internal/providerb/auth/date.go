package auth

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// dateLayouts are the forms of dates that clients sign, besides the forms of HTTP.
var dateLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999 -07:00:00",
	"2006-01-02 15:04:05.999999999 -0700 MST",
}

// datesValid reports whether a date was signed, and every signed date is valid and within age of
// now. With the age zero it checks nothing.
func (v *Verifier) datesValid(fields map[string]string, age time.Duration) bool {
	if age <= 0 {
		return true
	}
	dated := false
	for _, name := range []string{"date", "v-c-date"} {
		text, signed := fields[name]
		if !signed {
			continue
		}
		dated = true
		if at, known := parseDate(text); !known || !v.within(at, age) {
			return false
		}
	}
	return dated
}

// within reports whether a time is within age of now, either way.
func (v *Verifier) within(at time.Time, age time.Duration) bool {
	return v.cfg.Clock.Now().Sub(at).Abs() <= age
}

// parseDate parses a date in any known form.
func parseDate(text string) (time.Time, bool) {
	if t, err := http.ParseTime(text); err == nil {
		return t, true
	}
	if t, err := mail.ParseDate(text); err == nil { // RFC 5322, with a numeric zone
		return t, true
	}
	text, _, _ = strings.Cut(text, " m=") // Go's reading of a monotonic clock
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// secondBefore returns the date one second earlier in the same form, and false for any form but
// HTTP's. Some clients read the clock twice, for the signed date and for the sent one.
func secondBefore(text string) (string, bool) {
	t, err := http.ParseTime(text)
	if err != nil {
		return "", false
	}
	for _, form := range []func(time.Time) string{httpDate, shortHour} {
		if form(t) == text {
			return form(t.Add(-time.Second)), true
		}
	}
	return "", false
}

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// shortHour returns an HTTP date whose hour has no leading zero.
func shortHour(t time.Time) string {
	date, hour := httpDate(t), len("Mon, 02 Jan 2006 ")
	if date[hour] == '0' {
		return date[:hour] + date[hour+1:]
	}
	return date
}
