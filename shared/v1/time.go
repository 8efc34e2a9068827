package v1

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Time is a moment as v1 writes it: RFC 3339 in UTC with exactly milliseconds,
// "2026-11-21T09:30:00.000Z". Finer parts are cut off when it is written.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// ErrTime is the error of a text that is not a time.
var ErrTime = errors.New(`time: want RFC 3339 with a zone, such as "2026-11-21T09:30:00Z"`)

// AppendText appends the text to b. The error is for years that have no four digits.
func (t Time) AppendText(b []byte) ([]byte, error) {
	u := t.UTC()
	if y := u.Year(); y < 0 || y > 9999 {
		return b, fmt.Errorf("time: year %d: want four digits", y)
	}
	return u.AppendFormat(b, timeLayout), nil
}

// MarshalText returns the text; its error is that of AppendText.
func (t Time) MarshalText() ([]byte, error) {
	return t.AppendText(make([]byte, 0, len(timeLayout)))
}

// MarshalJSON returns the text as a JSON string; its error is that of AppendText.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.appendJSON(make([]byte, 0, len(timeLayout)+2))
}

// MarshalJSONTo is MarshalJSON for go-json-experiment, without the allocation.
func (t Time) MarshalJSONTo(enc *jsontext.Encoder) error {
	b, err := t.appendJSON(enc.AvailableBuffer())
	if err != nil {
		return err
	}
	return enc.WriteValue(b)
}

func (t Time) appendJSON(b []byte) ([]byte, error) {
	b, err := t.AppendText(append(b, '"'))
	return append(b, '"'), err
}

// UnmarshalText takes an RFC 3339 time of any zone and precision, also with a lower-case t and z.
// Its error is ErrTime.
func (t *Time) UnmarshalText(b []byte) error {
	if len(b) < len("2006-01-02T15:04:05Z") || b[len("2006-01-02T15")] != ':' || bytes.IndexByte(b, ',') >= 0 {
		return ErrTime // package time also takes one-digit hours and a comma
	}
	var parsed time.Time
	if err := parsed.UnmarshalText(bytes.ToUpper(b)); err != nil {
		return ErrTime
	}
	parsed = parsed.UTC()
	if y := parsed.Year(); y < 0 || y > 9999 { // it could not be written
		return ErrTime
	}
	t.Time = parsed
	return nil
}

// UnmarshalJSON takes a JSON string with an RFC 3339 time, and nothing else. Its error is ErrTime.
func (t *Time) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '"' {
		return ErrTime
	}
	text, err := jsontext.AppendUnquote(nil, b)
	if err != nil {
		return ErrTime
	}
	return t.UnmarshalText(text)
}
