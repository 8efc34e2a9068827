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
	maxBody  = 64 << 10 // of an answer
)

// News is what is told. Of a type, each merchant and mode hears of a name once.
type News struct {
	Mode   string         `json:"mode,omitzero"` // test or live, for one merchant only
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Object jsontext.Value `json:"object"` // what the event shows as data.object
}

// Port is core's operators' port.
type Port struct {
	URL    string        // of the port, without a path
	Token  secret.String // the operator's
	Client *http.Client  // nil: one of its own
}

// InProcess is the port of a core in this process, by what serves it.
func InProcess(operations http.Handler, token secret.String) *Port {
	return &Port{URL: "http://core", Token: token, Client: &http.Client{Transport: httpx.InProcess(operations)}}
}

// RefusedError is an answer of core's that is not that it was told.
type RefusedError struct {
	Status int
	Code   string // core's, "" where the answer has none
}

// Error says what core answered.
func (e *RefusedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("announce: core answered %d %s", e.Status, e.Code))
}

// BadToken reports that core does not know the operator's token, or has none: somebody must mend that.
func (e *RefusedError) BadToken() bool {
	return e.Status == http.StatusUnauthorized || e.Code == "operator_api_not_configured"
}

// Merchant tells one merchant.
func (p *Port) Merchant(ctx context.Context, merchant string, n News) error {
	return p.post(ctx, "/admin/v1/merchants/"+url.PathEscape(merchant)+"/events", n)
}

// Everybody tells all merchants, in both modes.
func (p *Port) Everybody(ctx context.Context, n News) error {
	return p.post(ctx, "/admin/v1/events", n)
}

// post sends it once. Core knows it again by its name; the key only spares it the look.
func (p *Port) post(ctx context.Context, path string, n News) error {
	body, err := json.Marshal(n)
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
	r.Header.Set("Idempotency-Key", n.Type+":"+n.Name)
	client := p.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if answer.StatusCode == http.StatusCreated || answer.StatusCode == http.StatusOK {
		return nil
	}
	return refusal(answer.StatusCode, text)
}

func refusal(status int, body []byte) error {
	var said struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // whatever else answers has no code
	return &RefusedError{status, said.Error.Code}
}

// Gap is how long to wait after that many attempts that failed.
func Gap(attempts int) time.Duration {
	d := firstGap
	for range attempts - 1 {
		if d *= 2; d >= lastGap {
			return lastGap
		}
	}
	return d
}
