module github.com/causeway-pay/causeway/deploy/deploytest

go 1.26.0
