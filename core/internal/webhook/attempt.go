package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// The classes of failure in the delivery log.
const (
	ErrorTimeout    = "timeout"
	ErrorDNS        = "dns_failed"
	ErrorAddress    = "address_not_allowed"
	ErrorTLS        = "tls_failed"
	ErrorConnection = "connection_failed"
	ErrorRedirect   = "redirect"
	ErrorStatus     = "bad_status"
	ErrorInternal   = "internal_error" // a fault of the service; it does not count against the endpoint
	ErrorQueueFull  = "queue_full"     // too many deliveries to the endpoint were pending; no attempt was made
)

// maxResponse is how much of a response is read and dropped, so that its connection can be reused.
const maxResponse = 16 << 10

func newClient(c Config) *http.Client {
	dialer := &net.Dialer{Timeout: c.Timeout, KeepAlive: 30 * time.Second, Resolver: c.Resolver, Control: c.Policy.control}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // not from the environment: a proxy would connect for us, past the policy
			DialContext:            dialer.DialContext,
			TLSClientConfig:        c.TLS.Clone(),
			TLSHandshakeTimeout:    c.Timeout,
			MaxIdleConns:           mostFast,
			MaxIdleConnsPerHost:    mostWindow,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 16 << 10,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// attempt is an attempt under a lease.
type attempt struct {
	lane     *lane
	endpoint *payment.Endpoint
	lease    store.Lease
	leased   time.Time // when the lease was written
	begun    time.Time // when the request was, zero before
	late     bool      // expelled from the fast lane; guarded by Deliverer.mu
}

// attempt carries out an attempt and writes its result. ctx ends when the process must. An attempt
// that fails inside the service ends as failed, so that it is repeated by the schedule and not
// whenever its lease ends. It stays leased only if the store as a whole failed.
func (d *Deliverer) attempt(ctx context.Context, a *attempt) {
	over := context.WithoutCancel(ctx)
	l := a.lease
	defer func() {
		if r := recover(); r != nil { // one event that cannot be shown must not stop the service at every start
			d.Log.ErrorContext(over, "webhooks: an attempt panicked", slog.String("delivery", id.Format(id.Delivery, l.Delivery)),
				slog.String("type", fmt.Sprintf("%T", r)), slog.Any("error", d.broken(over, l)))
		}
	}()
	err := d.carryOut(ctx, over, a)
	if errors.Is(err, store.ErrConflict) { // the endpoint is gone, or the lease had run out
		return
	}
	ended := d.Store.BeginPass(pass.Webhooks).Skip(over, "webhook_delivery", l.Delivery, err)
	if err != nil && ended == nil {
		ended = d.broken(over, l)
	}
	if ended != nil {
		d.unwritten(over, l, ended)
	}
}

// unwritten logs that the store failed to write the result of an attempt.
func (d *Deliverer) unwritten(ctx context.Context, l store.Lease, err error) {
	d.Log.ErrorContext(ctx, "webhooks: the result of an attempt was not written; it is repeated when its lease ends",
		slog.String("delivery", id.Format(id.Delivery, l.Delivery)), slog.Any("error", err))
}

// broken ends an attempt as failed after an error inside the service.
func (d *Deliverer) broken(ctx context.Context, l store.Lease) error {
	a := payment.DeliveryAttempt{At: d.Clock.Now(), Error: ErrorInternal}
	var status payment.DeliveryStatus
	err := d.Store.Update(ctx, func(tx *store.Tx) error {
		var due time.Time
		status, due = afterFailure(l, tx)
		return tx.EndAttempt(l, a, status, due)
	})
	if err == nil {
		d.Observer.DeliveryAttempted(a.Error, status)
	}
	return err
}

// afterFailure returns the status of a delivery after a failed attempt, and when it is due. The end
// of a delivery depends on the confirmed time, so that a clock that is set ahead ends no delivery
// early.
func afterFailure(l store.Lease, tx *store.Tx) (payment.DeliveryStatus, time.Time) {
	due, again := nextAttempt(l.Attempt, l.CreatedAt, tx.Confirmed())
	if !again {
		return payment.DeliveryFailed, tx.Now
	}
	return payment.DeliveryPending, due.Add(tx.Now.Sub(tx.Confirmed()))
}

func (d *Deliverer) carryOut(ctx, over context.Context, a *attempt) error {
	e, l := a.endpoint, a.lease
	event, err := d.Store.Event(over, e.Tenant, l.Event)
	if err != nil {
		return err
	}
	body := d.Body(event)
	if d.Clock.Now().Sub(a.leased) > freshFor {
		return d.Store.Update(over, func(tx *store.Tx) error { return tx.ReleaseAttempt(l) })
	}
	d.begin(a)
	made := d.traced(ctx, e, l, body)
	d.learn(a, made)
	if made.Error != "" && ctx.Err() != nil { // this process broke it off
		return d.Store.Update(over, func(tx *store.Tx) error { return tx.ReleaseAttempt(l) })
	}
	r := &result{endpoint: e, lease: l, attempt: made}
	if err := d.write(over, r); err != nil {
		d.unwritten(over, l, err)
		return nil
	}
	if r.written {
		d.Observer.DeliveryAttempted(made.Error, r.status)
	}
	if r.disabled != "" {
		d.Observer.EndpointDisabled(r.disabled)
	}
	return nil
}

// traced makes the request in a span. The first attempt belongs to the trace of the request that
// made the event, if that trace is still in memory. A later attempt may come long after the trace.
func (d *Deliverer) traced(ctx context.Context, e *payment.Endpoint, l store.Lease, body []byte) payment.DeliveryAttempt {
	ctx, span := d.Tracer.ClientOf(ctx, "webhook delivery", d.Store.Origin(l.Delivery), l.Attempt > 1)
	defer span.End()
	a := d.send(ctx, span, e, id.Format(id.Event, l.Event), body)
	span.Word(telemetry.Method, http.MethodPost)
	span.Int(telemetry.Attempt, int(l.Attempt))
	if a.Status != 0 {
		span.Int(telemetry.Status, a.Status)
	}
	if a.Error != "" {
		span.Fail(a.Error)
	}
	return a
}

// send makes the request.
func (d *Deliverer) send(ctx context.Context, span telemetry.Span, e *payment.Endpoint, message string, body []byte) payment.DeliveryAttempt {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	a := payment.DeliveryAttempt{At: d.Clock.Now()}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		a.Error = ErrorConnection
		return a
	}
	unix := a.At.Unix()
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Causeway-Webhooks/1", "Webhook-Id": message,
		"Webhook-Timestamp": strconv.FormatInt(unix, 10), "Webhook-Signature": d.Secrets.sign(e, message, unix, body),
	} {
		r.Header.Set(name, value)
	}
	span.SetHeaders(r.Header)
	response, err := d.client.Do(r)
	a.Duration = d.Clock.Now().Sub(a.At)
	if err != nil {
		a.Error = class(err)
		return a
	}
	if response.StatusCode != http.StatusSwitchingProtocols { // that body is the connection, and has no deadline
		_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // the status alone counts
	}
	_ = response.Body.Close()
	a.Status = response.StatusCode
	switch {
	case a.Status >= 300 && a.Status < 400:
		a.Error = ErrorRedirect
	case a.Status < 200 || a.Status >= 400:
		a.Error = ErrorStatus
	}
	return a
}

// class names a failure without its text, which may hold parts of the URL.
func class(err error) string {
	var (
		timeout     net.Error
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.Is(err, ErrAddress):
		return ErrorAddress
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrorTimeout
	case errors.As(err, &dns):
		return ErrorDNS
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return ErrorTLS
	}
	return ErrorConnection
}
