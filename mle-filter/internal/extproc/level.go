package extproc

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/metadata"

	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// MetadataPolicy is the gRPC metadata that holds the level of an Envoy route: off, optional or
// required, as in the policy tables. The stricter of it and the filter's own table applies. A route
// without it requires encryption.
const MetadataPolicy = "x-mle-policy"

var errLevel = errors.New("extproc: x-mle-policy: want off, optional or required, exactly once")

func levelOf(ctx context.Context) (policy.Level, error) {
	sent := metadata.ValueFromIncomingContext(ctx, MetadataPolicy)
	if len(sent) == 0 {
		return policy.Required, nil
	}
	switch level := policy.Level(sent[0]); {
	case len(sent) > 1:
	case level == policy.Off, level == policy.Optional, level == policy.Required:
		return level, nil
	}
	return "", fmt.Errorf("%w, got %q", errLevel, sent)
}
