package move_test

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/secret"
)

// TestEncodingOfAMove is UTF-8 whatever the URL says: texts arrive as they are.
func TestEncodingOfAMove(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.url = secret.New(b.url.Reveal() + "&client_encoding=LATIN1")
	b.finish(t)
	if got := number(t, b.target, "SELECT count(*) FROM merchants WHERE name LIKE 'Café %'"); got != 1 {
		t.Errorf("got %d merchants of that name, want 1", got)
	}
}
