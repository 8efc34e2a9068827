package goldentest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Executor is the executor to which a dialect sends its commands.
type Executor interface {
	Identify(ctx context.Context, key secret.String) (v1.APIKey, command.Result)
	Execute(ctx context.Context, key secret.String, c command.Command) command.Result
	Bind(ctx context.Context, key secret.String, b command.Binding, purpose []string) command.Result
}

// Recorder keeps the commands that reach the executor.
type Recorder struct {
	Executor

	Seen []command.Command
}

// Execute implements Executor.
func (r *Recorder) Execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	r.Seen = append(r.Seen, c)
	return r.Executor.Execute(ctx, key, c)
}

// Commands returns the golden form of the recorded commands, without card numbers.
func (r *Recorder) Commands(t *testing.T) []byte {
	t.Helper()
	type entry struct {
		Kind    command.Kind    `json:"kind"`
		Command command.Command `json:"command"`
	}
	entries := []entry{}
	for _, c := range r.Seen {
		entries = append(entries, entry{c.Kind(), c})
	}
	out, err := json.Marshal(entries, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// MustExecutor returns the real executor in front of v1.
func MustExecutor(t *testing.T, v1Handler http.Handler) *executor.Executor {
	t.Helper()
	server := Serve(t, v1Handler)
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport, Backoff: time.Millisecond,
			Clock: clock.NewFake(Today),
		},
		FollowPause: time.Millisecond, DeduplicationSecret: Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
