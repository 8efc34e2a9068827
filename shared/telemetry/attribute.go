package telemetry

import "go.opentelemetry.io/otel/attribute"

// Key names an attribute. This package defines every Key.
type Key struct{ name attribute.Key }

// The attributes of spans. The first five are OpenTelemetry's semantic conventions.
var (
	Method    = Key{"http.request.method"}
	Route     = Key{"http.route"} // the template
	Status    = Key{"http.response.status_code"}
	Resend    = Key{"http.request.resend_count"} // which repetition of a call it is, from 1
	ErrorType = Key{"error.type"}

	RequestID = Key{"causeway.request_id"}
	Outcome   = Key{"causeway.outcome"}      // an error code or a status
	Attempt   = Key{"causeway.attempt"}      // of a webhook delivery, from 1
	Objects   = Key{"causeway.objects"}      // how many objects a pass claimed
	Finished  = Key{"causeway.objects_done"} // and how many of these it finished
)

// maxWord is the length of the longest value.
const maxWord = 96

// masked stands for a value that is not a word of ours.
const masked = "-"

// word returns v if it has the form of our own words, otherwise a mask. So a mistake elsewhere
// cannot put a text, or a possible card number, into a span.
func word(v string) string {
	if len(v) > maxWord {
		return masked
	}
	digits := 0
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			if digits++; digits > 13 { // an id can have 13; card numbers have 14 or more, with few exceptions
				return masked
			}
			continue
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '-', c == '.', c == '/', c == '{', c == '}', c == ' ':
		default:
			return masked
		}
		digits = 0
	}
	return v
}
