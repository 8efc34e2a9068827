module github.com/causeway-pay/causeway/compat-proxy

go 1.26.0

require github.com/causeway-pay/causeway/shared v0.0.0

replace github.com/causeway-pay/causeway/shared => ../shared
