package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts spans to a collector. OpenTelemetry's client links gRPC and its gateway, which would
// cost each process 3 MB without a use. On the wire, the request of the protocol equals
// trace.TracesData: spans in field 1.
type client struct {
	http     *http.Client
	endpoint string
	headers  map[string]string // secret
	gzip     bool
}

// attempts is how often a batch is sent to a collector that reports an overload or is briefly
// unavailable. pause is the first time between attempts.
const (
	attempts = 6
	pause    = 100 * time.Millisecond
)

var (
	errRefused = errors.New("the collector rejected the spans")
	errLater   = errors.New("the collector accepts no spans now")
)

func newClient(e *environment) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone() // it is one
	return &client{
		endpoint: e.endpoint, headers: e.headers, gzip: e.gzip,
		http: &http.Client{
			Transport: transport, Timeout: e.timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // the headers are for this collector alone
			},
		},
	}
}

// Start does nothing: there is no connection before the first spans.
func (c *client) Start(context.Context) error { return nil }

// Stop closes connections.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans, and again while the collector cannot take them and ctx lasts.
func (c *client) UploadTraces(ctx context.Context, spans []*tracev1.ResourceSpans) error {
	body, err := c.encode(spans)
	if err != nil {
		return err
	}
	for n, wait := 1, pause; ; n, wait = n+1, 2*wait {
		err := c.post(ctx, body)
		if n == attempts || !errors.Is(err, errLater) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		case <-timer.C:
		}
	}
}

func (c *client) encode(spans []*tracev1.ResourceSpans) ([]byte, error) {
	body, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: spans})
	if err != nil || !c.gzip {
		return body, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err = w.Close() // it writes the rest, so the bytes are read after it
	return packed.Bytes(), err
}

func (c *client) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	switch s := response.StatusCode; {
	case s >= 200 && s < 300:
		return nil
	case s == http.StatusTooManyRequests, s == http.StatusBadGateway, s == http.StatusServiceUnavailable,
		s == http.StatusGatewayTimeout:
		return fmt.Errorf("%w: %d", errLater, s)
	default:
		return fmt.Errorf("%w: %d", errRefused, s)
	}
}
