package v1

import (
	_ "embed"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/secret"
)

//go:embed openapi.yaml
var openAPI string

// OpenAPI returns the contract: an OpenAPI 3.0 document in YAML. The caller may keep and change the
// copy.
func OpenAPI() []byte { return []byte(openAPI) }

// revealed are the options of MarshalRevealed.
var revealed = json.JoinOptions(json.WithMarshalers(secret.RevealMarshalers()), json.Deterministic(true))

// MarshalRevealed returns v as deterministic JSON with its secrets in the clear. Use it for a
// request to v1, and for a response that shows a new credential. Never log the result, or store it
// unencrypted.
func MarshalRevealed(v any) ([]byte, error) {
	b, err := json.Marshal(v, revealed)
	if err != nil {
		return nil, fmt.Errorf("encode with secrets: %w", err)
	}
	return b, nil
}
