package engine

import (
	"context"
	"runtime"

	"github.com/causeway-pay/causeway/shared/turns"
)

// TakeSlot holds one of the slots of an alg until done is called.
func (e *Engine) TakeSlot(alg Alg) (done func()) {
	turn, err := e.slots[alg].Take(context.Background(), turns.Work[client]{Caller: client{name: "another"}})
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
