//go:build unix

package fleet

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Ready is the line that a standalone prints with --json. The type repeats its fields on purpose:
// other programs read them.
type Ready struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
	CA    string `json:"ca"`
	Keys  struct {
		SKTest string `json:"sk_test"`
		PKTest string `json:"pk_test"`
		SKLive string `json:"sk_live"`
		PKLive string `json:"pk_live"`
	} `json:"keys"`
	ProviderA ProviderA `json:"provider_a"`
	ProviderB ProviderB `json:"provider_b"`
}

// StandaloneArgs returns the arguments of a standalone on a data folder. It listens at free ports,
// prints Ready and has no rate limit, because one key makes all the load. more are further
// arguments, which can change that.
func StandaloneArgs(data string, more ...string) []string {
	return append([]string{
		"--json", "--data", data, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--rate-limit", "0",
	}, more...)
}

// AwaitReady waits until a standalone is ready. Its standard output must be a programtest.Log.
func AwaitReady(ctx context.Context, p *programtest.Program) (r Ready, err error) {
	line, err := p.Line(ctx)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(line), &r, json.RejectUnknownMembers(true)); err != nil {
		return r, fmt.Errorf("ready line %q: %w", line, err)
	}
	return r, nil
}
