package upstream

import (
	"io"
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/shared/admission"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// copies is how many times a program holds the bytes of a response: as it arrives, decoded, and in
// the response to the client.
const copies = 3

// Counted returns a transport whose responses count towards the memory of the client's request, as
// the responses of a Transport do. See admission.Received.
func Counted(next http.RoundTripper) http.RoundTripper { return counted{next} }

type counted struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if busy := received(r, resp, resp.ContentLength); busy != nil {
		_ = resp.Body.Close() // it is not read
		return busy, nil
	}
	return resp, nil
}

// received makes the request hold the memory for a response of length bytes. If the memory is in
// use, it returns the response to use instead, as if v1 had refused the request. Nothing was
// executed, because admission refuses only responses to GET.
func received(r *http.Request, resp *http.Response, length int64) *http.Response {
	if admission.Received(r.Context(), r.Method, copies*max(length, 0)) == nil {
		return nil
	}
	const body = `{"error":{"type":"rate_limit_error","code":"rate_limited","message":"` + v1.MessageRateLimited +
		`","status":429}}`
	header := http.Header{"Content-Type": {"application/json"}}
	if date := resp.Header.Get("Date"); date != "" {
		header.Set("Date", date)
	}
	return &http.Response{
		Status: "429 Too Many Requests", StatusCode: http.StatusTooManyRequests,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r, Close: true,
	}
}
