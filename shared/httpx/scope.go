package httpx

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// scope is the data that the middlewares share about one request. The first middleware puts it into
// the context, as one value. It belongs to the goroutine that serves the request.
type scope struct {
	requestID     string
	clientAddress string     // "" before ClientAddress, or if there is none
	ownAddress    netip.Addr // clientAddress, or zero if many clients share it
	fromHop       bool       // the request shows the hop secret
	encrypted     bool       // a trusted mle-filter decrypted the request
	legacy        string     // the value of LegacyField, "" for none
	logged        bool       // a LogRequests will write event
	event         Event
	caller        telemetry.Remote // the trace context of the caller
	traceID       string           // 32 hexadecimal digits, "" for none
	recorder      recorder
}

type scopeKey struct{}

func scopeFrom(ctx context.Context) *scope {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	return s
}

func withScope(r *http.Request, s *scope) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), scopeKey{}, s))
}

// RequestID gives every request an id: in the response's Request-Id header, and in the context. The
// id is random, so that it reveals nothing about the ids of objects. An id that the client sends is
// ignored, because it could be any text.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := scopeFrom(r.Context())
		if s == nil || s.requestID != "" { // it is set already if one handler calls another in process
			s = &scope{}
			r = withScope(r, s)
		}
		s.requestID = id.Random(id.Request)
		w.Header().Set("Request-Id", s.requestID)
		next.ServeHTTP(w, r)
	})
}

// RequestIDFrom returns the request's id, or "" outside a request.
func RequestIDFrom(ctx context.Context) string {
	if s := scopeFrom(ctx); s != nil {
		return s.requestID
	}
	return ""
}

// AdoptRequestID sets the request's id, in the log and the trace, to the id that the next service
// gave it. A hop calls it when it forwards the response of that service, because the client sees
// that id.
func AdoptRequestID(ctx context.Context, id string) {
	if s := scopeFrom(ctx); s != nil && validRequestID(id) {
		s.requestID = id
	}
}

// validRequestID rejects ids that our services do not generate, to keep them out of the log.
func validRequestID(text string) bool {
	_, err := id.Parse(id.Request, text)
	return err == nil
}
