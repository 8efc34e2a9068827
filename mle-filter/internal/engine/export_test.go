package engine

import (
	"context"
	"runtime"
)

// TakeSlot holds one of the places where private keys of an alg are used, until the function it returns is called.
func (e *Engine) TakeSlot(alg Alg) func() {
	give, free := e.slots[alg].take(context.Background(), "another")
	if !free {
		panic("no slot is free")
	}
	return give
}

// AwaitWaiting waits until n operations of a client run or wait.
func (e *Engine) AwaitWaiting(alg Alg, client string, n int) {
	for s := e.slots[alg]; ; runtime.Gosched() {
		s.mu.Lock()
		l := s.lines[client]
		there := l != nil && l.users == n
		s.mu.Unlock()
		if there {
			return
		}
	}
}
