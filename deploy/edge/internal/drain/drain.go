package drain

import (
	"context"
	"fmt"
	"io"
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
// after their requests. It returns when no request is in progress, but not before quiet has passed:
// load balancers must notice the failed health check. It returns an error if ctx ends first.
func Envoy(ctx context.Context, admin string, quiet time.Duration) error {
	if _, err := ask(ctx, http.MethodPost, admin, "/drain_listeners?graceful&skip_exit"); err != nil {
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
		n, err := inProgress(ctx, admin)
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
func inProgress(ctx context.Context, admin string) (int, error) {
	text, err := ask(ctx, http.MethodGet, admin, `/stats?filter=%5Ehttp%5C.edge.*%5C.downstream_rq_active$`)
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

func ask(ctx context.Context, method, admin, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+admin+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(r)
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
