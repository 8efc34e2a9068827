package providera

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// fate is the way in which a transaction or its response is lost.
type fate string

const (
	passes    fate = ""
	lost      fate = "lost request"      // no effect, and the connection breaks
	unheard   fate = "lost response"     // an effect, and the connection breaks
	truncated fate = "truncated"         // an effect, and half of the response
	garbled   fate = "garbled"           // an effect, and the page of a gateway
	oversized fate = "oversized"         // an effect, and more than a response may have
	gateway   fate = "gateway status"    // no effect, and the status 502
	failing   fate = "system error"      // an effect, and E00001
	slow      fate = "no response"       // an effect, and nothing before the request's deadline
	empty     fate = "no transaction"    // an effect, and success without a transaction
	misnumber fate = "another reference" // an effect, and the response to another request
	relayed   fate = "another status"    // an effect, and its response with the status 500
	late      fate = "late request"      // the connection breaks, and the effect is later
	timedOut  fate = "gateway timeout"   // an effect, and the status 504
	busy      fate = "overload"          // no effect, and the status 503
	faulty    fate = "failed request"    // no effect, and a system error
	barred    fate = "refused login"     // no effect, and the login is refused
	denied    fate = "declined"          // no effect, and a decline
)

// unprocessed responds to a transaction whose fate has no effect at present.
func (h *host) unprocessed(w http.ResponseWriter, f fate, in hostRequest) bool {
	switch f {
	case late:
		h.delayed = append(h.delayed, in.Transaction)
		panic(http.ErrAbortHandler)
	case lost:
		panic(http.ErrAbortHandler)
	case gateway:
		w.WriteHeader(http.StatusBadGateway)
	case busy:
		w.WriteHeader(http.StatusServiceUnavailable)
	case faulty:
		_, _ = io.WriteString(w, wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00001", 1)))
	case barred:
		_, _ = io.WriteString(w, wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00007", 1)))
	case denied:
		h.next++
		_, _ = io.WriteString(w, wrap("createTransactionResponse", "<refId>"+in.RefID+"</refId>"+okay+
			"<transactionResponse>"+errorOf("2", h.reason(in.Transaction), "<transId>"+strconv.Itoa(h.next)+"</transId>")+
			"</transactionResponse>"))
	default:
		return false
	}
	return true
}

// arrive makes the late transactions arrive.
func (h *host) arrive() {
	h.do(func() {
		for _, t := range h.delayed {
			h.effect(t)
		}
		h.delayed = nil
	})
}
