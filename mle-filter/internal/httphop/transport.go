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

// answerPatience is how long core may take to begin a response. A server of ours cuts any response
// off after a minute.
const answerPatience = 50 * time.Second

// NewTransport keeps many connections to its one host and speaks HTTP/2 where TLS agrees on it. It
// ignores proxies of the environment: card numbers go to core and nowhere else. trust may be nil,
// for the TLS policy and the authorities of the system.
func NewTransport(trust *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       cmp.Or(trust, tlspolicy.Client(nil)),
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // core's response goes on as it is
		ResponseHeaderTimeout: answerPatience,
		ExpectContinueTimeout: time.Second,
	}
}

// InProcess returns a transport that hands requests to a handler, for any host.
func InProcess(handler http.Handler) http.RoundTripper { return httpx.InProcess(handler) }

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
