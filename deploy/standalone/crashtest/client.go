package crashtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// patience bounds every wait for what takes milliseconds on a machine that has nothing else to do.
const patience = 60 * time.Second

// client speaks to whichever process serves at the moment. It is safe for concurrent use.
type client struct {
	key  string
	http *http.Client

	mu   sync.RWMutex
	base string // guarded by mu
}

func newClient(key string) *client {
	return &client{key: key, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience}}
}

func (c *client) move(base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = base
	c.http.CloseIdleConnections()
}

// send makes the request. The error says that there was no whole answer.
func (c *client) send(ctx context.Context, call *Call) (*Answer, error) {
	c.mu.RLock()
	base := c.base
	c.mu.RUnlock()
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
	return &Answer{Status: got.StatusCode, Body: string(data), Replayed: got.Header.Get("Idempotent-Replayed") == "true"}, nil
}

// get reads a path of v1.
func (c *client) get(ctx context.Context, path, auth string) (*Answer, error) {
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
			id := read[struct {
				ID string `json:"id"`
			}](&Answer{Body: string(v)}).ID
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
