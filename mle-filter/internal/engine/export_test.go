package engine

import (
	"context"
	"runtime"

	"github.com/causeway-pay/causeway/shared/turns"
)

// TakeSlot holds one of the slots of an alg for another client until done is called.
func (e *Engine) TakeSlot(alg Alg) (done func()) { return e.takeSlot(alg, client{name: "another"}) }

// TakeSlotAs is TakeSlot for the client of x.
func (e *Engine) TakeSlotAs(x *Exchange, alg Alg) (done func()) { return e.takeSlot(alg, x.client()) }

func (e *Engine) takeSlot(alg Alg, of client) (done func()) {
	turn, err := e.slots[alg].Take(context.Background(), turns.Work[client]{Caller: of})
	if err != nil {
		panic(err)
	}
	return turn.Done
}

// AwaitWaiting waits until n operations wait for a slot of an alg.
func (e *Engine) AwaitWaiting(alg Alg, n int) {
	for e.slots[alg].Waiting() != n {
		runtime.Gosched()
	}
}
