//go:build unix

package fleet

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// Leader returns the core whose metric causeway_core_leads is 1, or nil.
func (f *Fleet) Leader(ctx context.Context) *Instance {
	for _, i := range f.Cores.All() {
		if !i.standsStill() && strings.Contains(i.metrics(ctx), "\ncauseway_core_leads 1\n") {
			return i
		}
	}
	return nil
}

// metrics returns the metrics of an instance, or "" if it does not respond.
func (i *Instance) metrics(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.Admin()+"/metrics", http.NoBody)
	if err != nil {
		return ""
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer func() { _ = got.Body.Close() }() // it was read or is useless
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
