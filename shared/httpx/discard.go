package httpx

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	discardBytes = 16 << 20
	discardFor   = 5 * time.Second
)

// Discard reads and forgets the rest of a body that ReadBody found too large, up to 16 MiB in at most five seconds. A client that is still
// sending when its connection closes mostly never reads the answer. One that waits to be told to go on is not told so.
func Discard(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > discardBytes || r.ContentLength >= 0 && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	if http.NewResponseController(w).SetReadDeadline(clock.System().Now().Add(discardFor)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, discardBytes) // whatever it ends with, the connection closes after the answer
}
