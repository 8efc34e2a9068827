module github.com/causeway-pay/causeway/deploy/edge/edgetest

go 1.26.0

require (
	github.com/causeway-pay/causeway/deploy/edge v0.0.0
	github.com/causeway-pay/causeway/deploy/standalone v0.0.0
	github.com/causeway-pay/causeway/shared v0.0.0
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.8 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/miekg/dns v1.1.73 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace (
	github.com/causeway-pay/causeway/compat-proxy => ../../../compat-proxy
	github.com/causeway-pay/causeway/core => ../../../core
	github.com/causeway-pay/causeway/deploy/edge => ../
	github.com/causeway-pay/causeway/deploy/standalone => ../../standalone
	github.com/causeway-pay/causeway/mle-filter => ../../../mle-filter
	github.com/causeway-pay/causeway/shared => ../../../shared
)
