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

// Discard reads the rest of a body that admission.ReadBody found too large, up to 16 MiB in at most
// five seconds. A client that is still sending when its connection closes usually never reads the
// response. A client that waits for 100 Continue does not get it.
func Discard(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength > discardBytes || r.ContentLength >= 0 &&
		strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	if http.NewResponseController(w).SetReadDeadline(clock.System().Now().Add(discardFor)) != nil {
		return
	}
	// After any error the connection closes after the response.
	_, _ = io.CopyN(io.Discard, r.Body, discardBytes)
}
