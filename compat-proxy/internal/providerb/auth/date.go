package auth

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// dateLayouts are the forms of dates that clients sign, beside those of HTTP.
var dateLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999 -07:00:00",
	"2006-01-02 15:04:05.999999999 -0700 MST",
}

// near reports whether a date was signed, and each that was can be read and is no further from now
// than age. Zero is any age: then nothing is judged.
func (v *Verifier) near(fields map[string]string, age time.Duration) bool {
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

// within reports whether a time is no further from now than age.
func (v *Verifier) within(at time.Time, age time.Duration) bool {
	return v.cfg.Clock.Now().Sub(at).Abs() <= age
}

// parseDate reads a date in any form we know.
func parseDate(text string) (time.Time, bool) {
	if t, err := http.ParseTime(text); err == nil {
		return t, true
	}
	if t, err := mail.ParseDate(text); err == nil { // RFC 5322, whose zone may be a number
		return t, true
	}
	text, _, _ = strings.Cut(text, " m=") // a monotonic clock's reading
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// secondBefore is the date one second earlier in the same form, and false when it is not one of HTTP. Some clients look at the clock once for
// what they sign and again for what they send.
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

// shortHour is an HTTP date whose hour has no leading zero.
func shortHour(t time.Time) string {
	date, hour := httpDate(t), len("Mon, 02 Jan 2006 ")
	if date[hour] == '0' {
		return date[:hour] + date[hour+1:]
	}
	return date
}
