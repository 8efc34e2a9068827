package core

import (
	"fmt"

	"github.com/causeway-pay/causeway/shared/card"
)

// checkText rejects a text that contains a card number, before it is stored in clear. The error
// names the field and not the text.
func checkText(field, text string) error {
	if _, _, found := card.InText(text); found {
		return fmt.Errorf("the %s contains a card number: choose a text without one", field)
	}
	return nil
}
