package engine

import "context"

// TakeSlot holds one of the places where private keys are used, until the function it returns is called.
func (e *Engine) TakeSlot() func() {
	if !e.slots.take(context.Background()) {
		panic("no slot is free")
	}
	return e.slots.give
}
