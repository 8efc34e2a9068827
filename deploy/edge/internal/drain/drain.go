package drain

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// often is the interval of the queries for requests in progress.
const often = 100 * time.Millisecond

// maxResponse is more than Envoy sends.
const maxResponse = 64 << 10

// Envoy makes an Envoy, at the address of its administration, close the connections of its clients
// after their requests. The address is unix:PATH or host:port. Envoy returns when no request is in
// progress, but not before quiet has passed: load balancers must notice the failed health check. It
// returns an error if ctx ends first.
func Envoy(ctx context.Context, address string, quiet time.Duration) error {
	admin := newAdmin(address)
	defer admin.client.CloseIdleConnections()
	if _, err := admin.request(ctx, http.MethodPost, "/drain_listeners?graceful&skip_exit"); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	heard := time.NewTimer(quiet)
	defer heard.Stop()
	select {
	case <-heard.C:
	case <-ctx.Done():
		return fmt.Errorf("drain: %w", ctx.Err())
	}
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		n, err := admin.inProgress(ctx)
		if err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		if n == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("drain: %d requests are under way: %w", n, ctx.Err())
		}
	}
}

// inProgress counts the requests in progress on the listeners for clients.
func (a *admin) inProgress(ctx context.Context) (int, error) {
	text, err := a.request(ctx, http.MethodGet, `/stats?filter=%5Ehttp%5C.edge.*%5C.downstream_rq_active$`)
	if err != nil {
		return 0, err
	}
	sum := 0
	for line := range strings.Lines(text) {
		_, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, fmt.Errorf("envoy: %q: %w", line, err)
		}
		sum += n
	}
	return sum, nil
}

// admin is a client of Envoy's administration.
type admin struct {
	host   string
	client *http.Client
}

func newAdmin(address string) *admin {
	path, unix := strings.CutPrefix(address, "unix:")
	if !unix {
		return &admin{host: address, client: &http.Client{Transport: &http.Transport{}}}
	}
	return &admin{host: "envoy", client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}}
}

func (a *admin) request(ctx context.Context, method, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+a.host+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := a.client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("envoy returns %s for %s", response.Status, path)
	}
	return string(text), err
}
