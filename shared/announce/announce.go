package announce

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	timeout  = 20 * time.Second // of one attempt
	firstGap = 5 * time.Second  // after the first attempt that failed; it doubles
	lastGap  = 10 * time.Minute
	maxBody  = 64 << 10 // of a response
)

// Event is an event that core creates for merchants. Type and Name identify it: core creates at
// most one for each merchant and mode, so a retry has no effect.
type Event struct {
	Mode   string         `json:"mode,omitzero"` // test or live, for one merchant only
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Object jsontext.Value `json:"object"` // shown by the event as data.object
}

// Port is a client of core's operators' port.
type Port struct {
	URL    string        // of the port, without a path
	Token  secret.String // an operator token
	Client *http.Client  // nil for a client with default settings
}

// InProcess returns the port of a core in this process. The handler serves its requests.
func InProcess(operations http.Handler, token secret.String) *Port {
	return &Port{URL: "http://core", Token: token, Client: &http.Client{Transport: httpx.InProcess(operations)}}
}

// RefusedError is a response of core that does not confirm the event.
type RefusedError struct {
	Status int
	Code   string // of core's error, "" if the response has none
}

// Error returns the status and the code of core's response.
func (e *RefusedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("announce: core rejected the event: HTTP %d %s", e.Status, e.Code))
}

// BadToken reports that core does not accept the operator's token, or has none. An operator must
// correct the token.
func (e *RefusedError) BadToken() bool {
	return e.Status == http.StatusUnauthorized || e.Code == "operator_api_not_configured"
}

// Merchant sends an event to one merchant.
func (p *Port) Merchant(ctx context.Context, merchant string, e Event) error {
	return p.post(ctx, "/admin/v1/merchants/"+url.PathEscape(merchant)+"/events", e)
}

// AllMerchants sends an event to all merchants, in both modes.
func (p *Port) AllMerchants(ctx context.Context, e Event) error {
	return p.post(ctx, "/admin/v1/events", e)
}

// post sends the event once. Core recognises a retry by the event's name. The idempotency key only
// saves core a lookup.
func (p *Port) post(ctx context.Context, path string, e Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Token.Reveal())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", e.Type+":"+e.Name)
	client := p.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if response.StatusCode == http.StatusCreated || response.StatusCode == http.StatusOK {
		return nil
	}
	return refusal(response.StatusCode, text)
}

func refusal(status int, body []byte) error {
	var errorBody struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &errorBody) // a response of another server has no code
	return &RefusedError{status, errorBody.Error.Code}
}

// Gap returns the delay before the next attempt after the given number of failed attempts.
func Gap(attempts int) time.Duration {
	d := firstGap
	for range attempts - 1 {
		if d *= 2; d >= lastGap {
			return lastGap
		}
	}
	return d
}
