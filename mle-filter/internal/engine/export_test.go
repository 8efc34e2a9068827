package engine

import "context"

// TakeSlot holds one of the places where private keys of an alg are used, until the function it returns is called.
func (e *Engine) TakeSlot(alg Alg) func() {
	if !e.slots[alg].take(context.Background()) {
		panic("no slot is free")
	}
	return e.slots[alg].give
}
