package httpx

import (
	"context"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// The words of a request line that each contain one id.
const (
	WordAPIKey    = "api_key"   // of the API key
	WordAddressed = "addressed" // of the object that the path names
	WordObject    = "object"    // of the object that the response shows
)

// idFields are the response fields by which a service sends these words to a trusted hop.
var idFields = [...]struct{ word, field string }{
	{WordAPIKey, "X-Svc-Int-Api-Key"}, {WordAddressed, "X-Svc-Int-Addressed"}, {WordObject, "X-Svc-Int-Object"},
}

// SetID sets one of the words WordAPIKey, WordAddressed and WordObject in the event of r. If a
// trusted hop sent r, w also gets the field from which AdoptIDs reads the word. Call it before w
// has a status.
func SetID(w http.ResponseWriter, r *http.Request, word, text string) {
	EventFrom(r.Context()).SetWord(word, text)
	if s := scopeFrom(r.Context()); s == nil || !s.fromHop {
		return
	}
	for _, f := range idFields {
		if f.word == word {
			w.Header()[f.field] = []string{text}
		}
	}
}

// AdoptIDs copies the words that the service behind a hop has sent with SetID into the event of
// ctx. It ignores a field that does not contain exactly one id. The hop must remove the fields
// before it forwards the response.
func AdoptIDs(ctx context.Context, header http.Header) {
	event := EventFrom(ctx)
	for _, f := range idFields {
		if values := header[f.field]; len(values) == 1 && isID(values[0]) {
			event.SetWord(f.word, values[0])
		}
	}
}

// isID reports whether text is an id with any prefix.
func isID(text string) bool {
	prefix, _, _ := strings.Cut(text, "_")
	_, err := id.Parse(id.Prefix(prefix), text)
	return err == nil && len(prefix) <= maxPrefix
}

// maxPrefix is the length of the longest prefix of an id.
const maxPrefix = 3
