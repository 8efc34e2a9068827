package httphop

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// answerPatience is how long core may take to begin an answer. A server of ours cuts any answer off after a minute.
const answerPatience = 50 * time.Second

// NewTransport keeps many connections to its one host, speaks HTTP/2 where TLS agrees on it, and ignores proxies of the environment: card
// numbers go to core and nowhere else. trust may be nil, for the TLS policy and the authorities of the system.
func NewTransport(trust *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       cmp.Or(trust, tlspolicy.Client(nil)),
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // core's answer goes on as it is
		ResponseHeaderTimeout: answerPatience,
		ExpectContinueTimeout: time.Second,
	}
}

// InProcess returns a transport that hands requests to a handler, whatever host they name.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

// inProcess carries a request to a handler in this process. The answer is whole when it returns: only what is encrypted goes this way, and
// that is held whole anyway.
type inProcess struct{ handler http.Handler }

var errAborted = errors.New("httphop: the handler gave up")

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(r *http.Request) (answer *http.Response, err error) {
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
		case http.ErrAbortHandler: // the handler's way to say that there is no whole answer
			answer, err = nil, errAborted
		default:
			panic(v)
		}
	}()
	t.handler.ServeHTTP(w, in)
	return w.answer(r), nil
}

// memory is a ResponseWriter that keeps the answer.
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

func (m *memory) answer(r *http.Request) *http.Response {
	m.WriteHeader(http.StatusOK)
	body, length := m.body.Bytes(), int64(m.body.Len())
	if r.Method == http.MethodHead {
		body = nil
		if announced, err := strconv.ParseInt(m.sent.Get("Content-Length"), 10, 64); err == nil {
			length = announced
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", m.status, http.StatusText(m.status)), StatusCode: m.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: m.sent, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}

// buffers are for copying bodies.
type buffers struct{}

var pool = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (buffers) Get() []byte {
	array, ok := pool.Get().(*[32 << 10]byte)
	if !ok {
		array = new([32 << 10]byte) // cannot be
	}
	return array[:]
}

func (buffers) Put(b []byte) { pool.Put((*[32 << 10]byte)(b)) }
