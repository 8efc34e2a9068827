package httphop

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// responseTimeout is the time for core to begin a response. Our servers cut any response off after
// a minute.
const responseTimeout = 50 * time.Second

// NewTransport returns a transport that keeps many connections to its one host, and uses HTTP/2 if
// TLS negotiates it. It ignores proxies of the environment, because card numbers go only to core.
// If trust is nil, the transport trusts the system's authorities, under the TLS policy.
func NewTransport(trust *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       cmp.Or(trust, tlspolicy.Client(nil)),
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // core's response passes unchanged
		ResponseHeaderTimeout: responseTimeout,
		ExpectContinueTimeout: time.Second,
	}
}

// InProcess returns a transport that passes requests to a handler, for any host.
func InProcess(handler http.Handler) http.RoundTripper { return httpx.InProcess(handler) }

// buffers are the buffers for copying bodies.
type buffers struct{}

var pool = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (buffers) Get() []byte {
	array, ok := pool.Get().(*[32 << 10]byte)
	if !ok {
		array = new([32 << 10]byte) // impossible
	}
	return array[:]
}

func (buffers) Put(b []byte) { pool.Put((*[32 << 10]byte)(b)) }
