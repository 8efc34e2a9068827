package httpx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// InProcess returns a transport that passes requests to a handler, for any host.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

// inProcess carries a request to a handler in this process. It returns the complete response, so it
// is only for bodies that are in memory anyway.
type inProcess struct{ handler http.Handler }

var errAborted = errors.New("httpx: the handler aborted the response")

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (response *http.Response, err error) {
	w := &memory{header: http.Header{}}
	in := r.Clone(r.Context())
	in.RequestURI = in.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler: // the handler aborted the response
			response, err = nil, errAborted
		default:
			panic(v)
		}
	}()
	t.handler.ServeHTTP(w, in)
	return w.response(r), nil
}

// memory is a ResponseWriter that keeps the response.
type memory struct {
	header http.Header
	sent   http.Header // header when the status was written
	status int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header { return m.header }

func (m *memory) WriteHeader(status int) {
	if m.status == 0 && status >= http.StatusOK {
		m.status, m.sent = status, m.header.Clone()
	}
}

func (m *memory) Write(b []byte) (int, error) {
	m.WriteHeader(http.StatusOK)
	return m.body.Write(b)
}

func (m *memory) response(r *http.Request) *http.Response {
	m.WriteHeader(http.StatusOK)
	body, length := m.body.Bytes(), int64(m.body.Len())
	if r.Method == http.MethodHead {
		body = nil
		if announced, err := strconv.ParseInt(m.sent.Get("Content-Length"), 10, 64); err == nil {
			length = announced
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", m.status, http.StatusText(m.status)), StatusCode: m.status, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: m.sent, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}
