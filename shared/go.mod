module github.com/causeway-pay/causeway/shared

go 1.26.0
