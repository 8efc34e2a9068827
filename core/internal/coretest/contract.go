package coretest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// document is the contract, read once for all tests.
var document = sync.OnceValues(func() (*contractDocument, error) { return read(v1.OpenAPI()) })

// read reads a contract. The values that a response may get later are not in it yet: a test refuses
// them.
func read(contract []byte) (*contractDocument, error) {
	closed := bytes.ReplaceAll(contract, []byte("x-extensible-enum:"), []byte("enum:"))
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	return &contractDocument{doc, router}, err
}

type contractDocument struct {
	doc    *openapi3.T
	router routers.Router
}

// Contract is a transport that checks the header and the body of every response. The response to a
// described operation must be one of its described responses. Every other response must be an
// error. An accepted request must also be valid by the contract.
type Contract struct {
	tb   testing.TB
	next http.RoundTripper
	doc  *contractDocument
}

// NewContract returns the transport in front of next. It reports to tb, and can be used until that
// test ends.
func NewContract(tb testing.TB, next http.RoundTripper) *Contract {
	tb.Helper()
	doc, err := document()
	if err != nil {
		tb.Fatal(err)
	}
	return &Contract{tb, next, doc}
}

// NewContractOf is NewContract for the given contract instead of v1's: a valid OpenAPI document in
// YAML.
func NewContractOf(tb testing.TB, next http.RoundTripper, contract []byte) *Contract {
	tb.Helper()
	doc, err := read(contract)
	if err != nil {
		tb.Fatal(err)
	}
	return &Contract{tb, next, doc}
}

// RoundTrip implements http.RoundTripper.
func (c *Contract) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := drain(&r.Body)
	if err != nil {
		return nil, err
	}
	fromHop := r.Header.Get(httpx.HopField) != "" // a service in this process removes the field
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if fromHop { // a hop removes the fields that only our programs send each other
		maps.DeleteFunc(resp.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, internalPrefix) })
	}
	got, err := drain(&resp.Body)
	if err != nil {
		return nil, err
	}
	if err := c.check(r, sent, resp, got); err != nil {
		c.tb.Errorf("%s %s: the response breaks the contract: %v\n%d %s", r.Method, r.URL.Path, err, resp.StatusCode, got)
	}
	return resp, nil
}

// internalPrefix begins the fields that only our programs send each other: no other client gets
// one.
const internalPrefix = "X-Svc-Int-"

// drain reads a body and replaces it by a copy.
func drain(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(*body)
	if err != nil {
		return nil, err
	}
	if err := (*body).Close(); err != nil {
		return nil, err
	}
	*body = io.NopCloser(bytes.NewReader(b))
	return b, nil
}

func (c *Contract) check(r *http.Request, sent []byte, resp *http.Response, got []byte) error {
	if _, err := id.Parse(id.Request, resp.Header.Get("Request-Id")); err != nil {
		return fmt.Errorf("request-id header: %w", err)
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, internalPrefix) {
			return fmt.Errorf("header %s is only for our programs", name)
		}
	}
	if got, want := resp.Header.Get("Content-Type"), "application/json"; got != want {
		return fmt.Errorf("content type: got %q, want %q", got, want)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	route, params, err := c.doc.router.FindRoute(r)
	if err != nil {
		return c.checkUndescribed(resp, got)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if resp.StatusCode < 400 || resp.StatusCode == http.StatusPaymentRequired {
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return fmt.Errorf("an accepted request is invalid by the contract: %w", err)
		}
	}
	if err := checkHeaders(r, resp, headersOf(route.Operation, resp.StatusCode)); err != nil {
		return err
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header,
		Body: io.NopCloser(bytes.NewReader(got)), Options: in.Options,
	})
}

// checkUndescribed checks the response to a path or method that the contract does not have: an
// error in the shape of the contract.
func (c *Contract) checkUndescribed(resp *http.Response, got []byte) error {
	if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed {
		return fmt.Errorf("an undescribed operation responds with %d", resp.StatusCode)
	}
	if err := checkHeaders(resp.Request, resp, c.doc.doc.Components.Responses["Refusal"].Value.Headers); err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(got, &v); err != nil {
		return err
	}
	return c.doc.doc.Components.Schemas["ErrorBody"].Value.VisitJSON(v)
}
