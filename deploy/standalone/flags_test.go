package main

import (
	"strings"
	"testing"
)

// TestPlainHTTPOnLoopbackOnly checks which addresses may serve plain HTTP.
func TestPlainHTTPOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"127.0.0.1:8080", "127.9.8.7:0", "localhost:8080", "[::1]:8080", "[::ffff:127.0.0.1]:8080", "unix:/run/standalone",
	} {
		for _, flag := range []string{"--listen", "--admin"} {
			if _, err := ParseFlags([]string{flag, addr}); err != nil {
				t.Errorf("%s %s: got %v", flag, addr, err)
			}
		}
	}
	for _, addr := range []string{
		"0.0.0.0:8080", ":8080", "[::]:8080", "10.0.0.1:8080", "[fe80::1%lo]:8080", "pay.example:8080",
		"localhost.example:8080", "128.0.0.1:8080", "[::ffff:10.0.0.1]:8080",
	} {
		for _, flag := range []string{"--listen", "--admin"} {
			_, err := ParseFlags([]string{flag, addr})
			if err == nil {
				t.Errorf("%s %s: was accepted", flag, addr)
				continue
			}
			for _, want := range []string{flag + " " + addr, "loopback", "--listen-tls", "--insecure-http"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s %s: got %q, want %q in it", flag, addr, err, want)
				}
			}
			if _, err := ParseFlags([]string{"--insecure-http", flag, addr}); err != nil {
				t.Errorf("--insecure-http %s %s: got %v", flag, addr, err)
			}
		}
		if _, err := ParseFlags([]string{"--listen-tls", addr}); err != nil {
			t.Errorf("--listen-tls %s: got %v", addr, err)
		}
	}
}
