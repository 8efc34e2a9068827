package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// client sends requests to the process that currently serves, or to several processes in turn. It
// is safe for concurrent use.
type client struct {
	key  string
	http *http.Client
	next atomic.Uint64 // whose turn it is

	mu    sync.RWMutex
	bases []string // guarded by mu
}

func newClient(key string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	return &client{key: key, http: &http.Client{Transport: transport, Timeout: programtest.Patience}}
}

func (c *client) move(bases ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bases = bases
	c.http.CloseIdleConnections()
}

// many returns the number of processes.
func (c *client) many() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.bases)
}

// send sends the request. The error reports that there was no complete response. With several
// processes, it sends the request to the next one if a process does not listen. It also repeats a
// read there if the response was lost.
func (c *client) send(ctx context.Context, call *Call) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, programtest.Patience)
	defer cancel()
	c.mu.RLock()
	bases := c.bases
	c.mu.RUnlock()
	for tries := 1; ; tries++ {
		a, err := c.sendTo(ctx, bases[c.next.Add(1)%uint64(len(bases))], call)
		var way *net.OpError
		unsent := errors.As(err, &way) && way.Op == "dial"
		reads := call.Method == http.MethodGet
		if err == nil && (!reads || !a.lost()) || len(bases) == 1 || !unsent && !reads {
			return a, err
		}
		if tries%len(bases) == 0 {
			select {
			case <-time.After(20 * time.Millisecond): // the processes are restarting
			case <-ctx.Done():
				return a, err
			}
		}
	}
}

// insist sends a request that may be retried until it has the outcome: on an overloaded machine
// the store is unavailable for moments.
func (c *client) insist(ctx context.Context, call *Call) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, programtest.Patience)
	defer cancel()
	for {
		a, err := c.send(ctx, call)
		if err != nil || !a.lost() && !a.busy() {
			return a, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return a, nil
		}
	}
}

func (c *client) sendTo(ctx context.Context, base string, call *Call) (*Response, error) {
	r, err := http.NewRequestWithContext(ctx, call.Method, base+call.Path, strings.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	auth := call.Auth
	if auth == "" {
		auth = c.key
	}
	r.Header.Set("Authorization", "Bearer "+auth)
	if call.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if call.Key != "" {
		r.Header.Set("Idempotency-Key", call.Key)
	}
	got, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		return nil, err
	}
	replayed := got.Header.Get("Idempotent-Replayed") == "true"
	return &Response{Status: got.StatusCode, Body: string(data), Replayed: replayed}, nil
}

// get reads a path of v1.
func (c *client) get(ctx context.Context, path, auth string) (*Response, error) {
	return c.send(ctx, &Call{Method: http.MethodGet, Path: path, Auth: auth})
}

// list reads all of a list that is newer than the object after, newest first, as raw objects.
func (c *client) list(ctx context.Context, path, after string) ([]jsontext.Value, error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	var all []jsontext.Value
	for cursor := ""; ; {
		a, err := c.get(ctx, path+separator+"limit=100"+cursor, "")
		if err != nil {
			return nil, err
		}
		if a.Status != http.StatusOK {
			return nil, fmt.Errorf("list %s: HTTP %d: %s", path, a.Status, a.Body)
		}
		page := read[struct {
			Data []jsontext.Value `json:"data"`
			More bool             `json:"has_more"`
		}](a)
		for _, v := range page.Data {
			id := idOf(v)
			if id <= after { // ids of one kind are in the order of time
				return all, nil
			}
			all = append(all, v)
			cursor = "&starting_after=" + id
		}
		if !page.More {
			return all, nil
		}
	}
}

// listOf is list, decoded.
func listOf[T any](ctx context.Context, c *client, path, after string) ([]T, error) {
	raw, err := c.list(ctx, path, after)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(raw))
	for i, v := range raw {
		if err := json.Unmarshal(v, &out[i]); err != nil {
			return nil, fmt.Errorf("list %s: %w: %s", path, err, v)
		}
	}
	return out, nil
}
