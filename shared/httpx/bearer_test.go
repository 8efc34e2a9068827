package httpx_test

import (
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lines []string
		token string
		ok    bool
	}{
		{nil, "", false},
		{[]string{""}, "", false},
		{[]string{"Bearer"}, "", true},
		{[]string{"Bearer a"}, "a", true},
		{[]string{"bEARER  a "}, "a", true},
		{[]string{"Bearer Bearer a"}, "Bearer a", true},
		{[]string{"Basic a"}, "", false},
		{[]string{"a"}, "", false},
		{[]string{"Bearer a", "Bearer a"}, "", false},
		{[]string{"Bearer a", ""}, "", false},
		{[]string{"Basic a", "Bearer a"}, "", false},
	} {
		t.Run(fmt.Sprintf("%q", tt.lines), func(t *testing.T) {
			t.Parallel()
			if token, ok := httpx.Bearer(tt.lines); token != tt.token || ok != tt.ok {
				t.Errorf("got %q, %v, want %q, %v", token, ok, tt.token, tt.ok)
			}
		})
	}
}
