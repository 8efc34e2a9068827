package auth_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

func TestMain(m *testing.M) { coretest.Main(m) }
