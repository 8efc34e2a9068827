package httpx

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Event is the only log event of a request, which handlers fill in. Its methods do nothing on nil.
// It belongs to the goroutine that serves the request. No value in it may be secret or chosen by
// the caller.
type Event struct {
	route, tenant, outcome string
	words                  []slog.Attr
}

// SetRoute sets the pattern the request matched ("/v1/transactions/{id}"), not its path.
func (e *Event) SetRoute(route string) {
	if e != nil {
		e.route = route
	}
}

// SetTenant sets whose request it is.
func (e *Event) SetTenant(tenant string) {
	if e != nil {
		e.tenant = tenant
	}
}

// SetOutcome sets the outcome of the request, in a word: an error code, "replayed", "panic".
func (e *Event) SetOutcome(outcome string) {
	if e != nil {
		e.outcome = outcome
	}
}

// SetWord sets a word that the service chooses, such as the used key. A later value of the same
// name replaces it.
func (e *Event) SetWord(key, value string) {
	if e == nil {
		return
	}
	for i := range e.words {
		if e.words[i].Key == key {
			e.words[i].Value = slog.StringValue(value)
			return
		}
	}
	e.words = append(e.words, slog.String(key, value))
}

// AddWord adds a value to a word, after a comma. It ignores a value that the word already has.
func (e *Event) AddWord(key, value string) {
	if e == nil {
		return
	}
	for _, word := range e.words {
		if word.Key != key {
			continue
		}
		if held := word.Value.String(); !slices.Contains(strings.Split(held, ","), value) {
			e.SetWord(key, held+","+value)
		}
		return
	}
	e.SetWord(key, value)
}

// EventFrom returns the event of the request, or nil if there is none.
func EventFrom(ctx context.Context) *Event {
	if s := scopeFrom(ctx); s != nil && s.logged {
		return &s.event
	}
	return nil
}

// Sample is one request for a metric. The caller chooses none of its words.
type Sample struct {
	Route  string // the pattern; "" when none matched
	Status int
	Took   time.Duration
	// Outcome is the outcome in the request's log event.
	Outcome string
}

// LogRequests writes one event "request" when a request ends. It has the fields method, route,
// status, tenant, client_address (inside ClientAddress), request_id, duration_ms, bytes of the
// response body, outcome and trace_id. trace_id needs Trace outside. SetWord adds fields. The event
// never has the path, the query, another header field or a body. The level is Info, or Error for a
// status of 500 and above, or Warn if its outcome is no fault of the program.
//
// A handler that did not return has the outcome "aborted" unless it set one. If the client
// disconnects first, the outcome is OutcomeClientGone. If the request then has no status, or a
// status of 500 and above, it gets the status StatusClientGone. Its level is Info, unless the
// handler panicked. Each observer gets a Sample of every request.
func LogRequests(log *slog.Logger, c clock.Clock, next http.Handler, observers ...func(Sample)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := c.Now()
		s := scopeFrom(r.Context())
		if s == nil || s.logged {
			s = &scope{}
			r = withScope(r, s)
		}
		s.logged = true
		s.recorder.ResponseWriter, s.recorder.client = w, r.Context()
		returned := false
		defer func() { // also when the handler panics, and then without stopping the panic
			returned = s.end(r, returned)
			took := c.Now().Sub(start)
			status := s.write(log, r, took, returned)
			for _, observe := range observers {
				observe(Sample{
					Route: s.event.route, Status: status, Took: took, Outcome: s.event.outcome,
				})
			}
		}()
		next.ServeHTTP(&s.recorder, r)
		returned = true
	})
}

// The status and outcome, in log and metrics, of a request whose client disconnected before the
// response.
const (
	StatusClientGone  = 499
	OutcomeClientGone = "client_gone"
)

// ClientGone reports whether the client of the request with this context has gone away.
func ClientGone(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// OutcomeBusy is the outcome of a request that was refused because others of the same kind wait.
const OutcomeBusy = "busy"

// faultless are the outcomes of requests that a program refuses because of its load, or because a
// merchant has no account. They are no faults of it: a client could otherwise fill the log with
// errors at will.
var faultless = map[string]bool{"overloaded": true, OutcomeBusy: true, "acquirer_not_configured": true}

// RefusalLevel returns the level at which to log the cause of a request with an outcome. It is
// Warn if the outcome is no fault of the program, else FaultLevel.
func RefusalLevel(ctx context.Context, outcome string) slog.Level {
	if faultless[outcome] {
		return slog.LevelWarn
	}
	return FaultLevel(ctx)
}

// FaultLevel returns the level at which to log the cause of a failed request. It is Error, or Info
// if the client has gone away, because that cancelled the work of the request.
func FaultLevel(ctx context.Context) slog.Level {
	if ClientGone(ctx) {
		return slog.LevelInfo
	}
	return slog.LevelError
}

// end settles the outcome of a request, and reports whether it ended as it should: its handler
// returned, or had no client any more.
func (s *scope) end(r *http.Request, returned bool) bool {
	switch {
	case s.event.outcome == outcomePanic:
	case !returned && ClientGone(r.Context()):
		s.recorder.status = cmp.Or(s.recorder.status, StatusClientGone)
		s.event.outcome, returned = OutcomeClientGone, true
	case !returned && s.event.outcome == "":
		s.event.outcome = "aborted"
	case s.recorder.gone && s.recorder.status >= http.StatusInternalServerError:
		s.recorder.status, s.event.outcome = StatusClientGone, OutcomeClientGone
	}
	return returned
}

// write writes the event and returns the status.
func (s *scope) write(log *slog.Logger, r *http.Request, took time.Duration, returned bool) int {
	status := s.recorder.status
	if status == 0 && returned {
		status = http.StatusOK // net/http sends it if the handler wrote nothing
	}
	level := slog.LevelInfo
	switch {
	case returned && faultless[s.event.outcome]:
		level = slog.LevelWarn
	case status >= http.StatusInternalServerError || !returned:
		level = slog.LevelError
	}
	attrs := [...]slog.Attr{
		slog.String("method", knownMethod(r.Method)),
		slog.String("route", s.event.route),
		slog.Int("status", status),
		slog.String("tenant", s.event.tenant),
		slog.String("client_address", s.clientAddress),
		slog.String("request_id", s.requestID),
		slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes", s.recorder.bytes),
		slog.String("outcome", s.event.outcome),
		slog.String("trace_id", s.traceID),
	}
	shown := attrs[:]
	if s.traceID == "" {
		shown = shown[:len(shown)-1]
	}
	log.LogAttrs(r.Context(), level, "request", append(shown, s.event.words...)...)
	return status
}

// knownMethod returns a method for the log. It replaces a text that is not a method.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return m
	}
	return "OTHER"
}
