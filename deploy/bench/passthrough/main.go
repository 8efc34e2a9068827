package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "passthrough: %v\n", err)
		os.Exit(1)
	}
}

// run forwards requests until ctx ends.
func run(ctx context.Context, args []string) error {
	gc.RelaxStateless(os.Getenv)
	f := flag.NewFlagSet("passthrough", flag.ContinueOnError)
	listen := f.String("listen", "127.0.0.1:0", "`address` to listen on")
	to := f.String("to", "", "`URL` of the server that gets the requests")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	target, err := url.Parse(*to)
	if err != nil {
		return fmt.Errorf("-to: %w", err)
	}
	server := httpx.NewServer(httpx.Options{Handler: &httputil.ReverseProxy{
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:  transport(),
		BufferPool: &buffers{},
	}})
	if _, err := server.Start(*listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	<-ctx.Done()
	return server.Stop(context.WithoutCancel(ctx))
}

// transport keeps as many connections as that of compat-proxy, which writes and reads without
// net/http's goroutines.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.DisableCompression, t.MaxIdleConns, t.MaxIdleConnsPerHost = nil, true, 256, 256
	return t
}

// buffers saves the reverse proxy a new buffer for each response: the yardstick must not be slow.
type buffers struct{ sync.Pool }

func (b *buffers) Get() []byte {
	if buf, ok := b.Pool.Get().(*[]byte); ok {
		return *buf
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(buf []byte) { b.Pool.Put(&buf) }
