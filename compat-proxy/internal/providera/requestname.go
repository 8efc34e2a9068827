package providera

import (
	"context"
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/idempotency"
)

// requestName returns the name of a request by its Idempotency-Key. It returns "" without the
// header, and for a request that only reads. The calls of a batch share the header, so the position
// distinguishes them.
func requestName(m catalogue.Method, header http.Header, position int) (string, problem) {
	if m.SideEffect == catalogue.ReadOnly {
		return "", problem{}
	}
	key, err := idempotency.Key(header)
	switch {
	case err != nil:
		return "", invalid(idempotency.Header)
	case key == "":
		return "", problem{}
	}
	return "key/a/" + strconv.Itoa(position) + "/" + key, problem{}
}

// nameTaken refuses a request whose name belongs to another one.
func nameTaken() problem {
	return problem{API: apiFieldInvalid, Text: "The Idempotency-Key belongs to another request."}
}

// bind reserves the request's name for its operation and its commands. It returns the refusal if
// the name belongs to another request, or if the reservation fails. V1 cannot decide this: it gets
// the steps of some commands under several keys, and refuses others because of stored objects.
func (h *Handler) bind(ctx context.Context, c call, operation string, commands ...command.Command) problem {
	if c.name == "" {
		return problem{}
	}
	text, err := command.Comparable(commands...)
	if err != nil {
		return refuse(apiProcessing)
	}
	return judge("", h.cfg.Executor.Bind(ctx, c.key, command.Binding{Evidence: c.name}, []string{operation, text}))
}

// execute executes one command, under the request's name if it has one. The name outranks the
// duplicateWindow.
func (h *Handler) execute(ctx context.Context, c call, do command.Command) command.Result {
	if c.name != "" {
		do = command.Named{Command: do, Name: c.name}
	}
	return h.cfg.Executor.Execute(ctx, c.key, do)
}

// step returns the call with the name of its ith validation.
func (c call) step(i int) call {
	if c.name != "" {
		c.name = "validation/" + strconv.Itoa(i) + "/" + c.name
	}
	return c
}
