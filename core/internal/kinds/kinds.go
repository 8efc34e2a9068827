package kinds

import "github.com/causeway-pay/causeway/core/internal/account"

// All returns all kinds by name.
func All() account.Kinds { return account.Kinds{} }
