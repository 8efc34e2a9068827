package admission_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/admission"
)

// fillBodies is fill for complete bodies with the given text.
func (u *unfinished) fillBodies(text, address string, fields ...string) (held, status int, stop func()) {
	u.t.Helper()
	fields = append(fields, "Hang", "1")
	return u.begin(all, func(ctx context.Context) *http.Request {
		r := u.request(ctx, address, len(text), fields...)
		r.Body = io.NopCloser(strings.NewReader(text))
		return r
	})
}

// TestMemory: a complete body counts with its weight until its request ends. One client holds at
// most a third of the memory, and others are served.
func TestMemory(t *testing.T) {
	t.Parallel()
	const bytes = 3 * 1000 // of a body of 1,000 bytes
	u := admit(t, admission.Config{Memory: 9 * bytes})
	text := strings.Repeat("a", 1000)
	for range 2 {
		held, status, stop := u.fillBodies(text, "127.0.0.2")
		if held != 3 || status != http.StatusTooManyRequests {
			t.Errorf("got %d requests and %d, want 3 and 429", held, status)
		}
		u.want(200, "127.0.0.3", 1000)
		stop()
	}
	for i := range 20 {
		u.fillBodies(text, siteAddress(i))
	}
	u.want(503, "127.0.0.4", 4000)
}

// TestMemoryOfElements: a body weighs more if it has many elements or values.
func TestMemoryOfElements(t *testing.T) {
	t.Parallel()
	const elements = 1000
	for text, bytes := range map[string]int64{
		strings.Repeat("<a/>", elements):   elements * (3*4 + 256),
		strings.Repeat("{},", elements):    elements * (3*3 + 2*128),
		strings.Repeat("[0],", elements):   elements * (3*4 + 2*128),
		strings.Repeat("text", elements):   elements * 3 * 4,
		strings.Repeat("<<<<<<", elements): elements*3*6 + 5<<18, // the most for elements
	} {
		for memory, want := range map[int64]int{2*bytes - 1: 1, 2*bytes - 2: 0} { // a client may hold half of the rest
			held, _, _ := admit(t, admission.Config{Memory: memory}).fillBodies(text, "127.0.0.2")
			if held != want {
				t.Errorf("%.6s of %d: got %d requests, want %d", text, memory, held, want)
			}
		}
	}
}

// TestMemoryOfAMerchant: a request that identifies itself after its body counts towards its
// merchant. If that has no memory left, the request is refused and holds nothing.
func TestMemoryOfAMerchant(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1000)
	u := admit(t, admission.Config{Slots: 90, Memory: 9 * 3 * 1000})
	late := append(secretKey("mer_1"), "Late", "1")
	held, status, stop := u.fillBodies(text, "127.0.0.2", late...)
	if held != 3 || status != http.StatusTooManyRequests {
		t.Errorf("got %d requests and %d, want 3 and 429", held, status)
	}
	if held, _, _ := u.fillBodies(text, "127.0.0.2"); held != 2 { // half of the rest
		t.Errorf("address: got %d requests, want 2", held)
	}
	stop()
	u.wantFill(30, "127.0.0.3", "Key", "other", "Merchant", "other", "Live", "1")
}
