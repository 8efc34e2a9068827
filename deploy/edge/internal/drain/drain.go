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

// often is how often Envoy is asked what is under way.
const often = 100 * time.Millisecond

// maxAnswer is more than Envoy says.
const maxAnswer = 64 << 10

// Envoy tells an Envoy, by the address of its administration, to have its clients go elsewhere, and returns when requests are no longer under way,
// but not before quiet has passed: those who send to it have to hear of its end. It returns an error when ctx ends first.
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
		n, err := underWay(ctx, admin)
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

// underWay counts the requests of the listeners for clients.
func underWay(ctx context.Context, admin string) (int, error) {
	text, err := ask(ctx, http.MethodGet, admin, `/stats?filter=%5Ehttp%5C.edge.*%5C.downstream_rq_active$`)
	if err != nil {
		return 0, err
	}
	sum := 0
	for line := range strings.Lines(text) {
		_, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, fmt.Errorf("envoy says %q: %w", line, err)
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
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("envoy answers %s to %s", answer.Status, path)
	}
	return string(text), err
}
