package wire

// Orders, line items and the amounts that are part of the total.

var order = sequence(
	optional("invoiceNumber", upTo(20)),
	optional("description", upTo(255)),
	optional("discountAmount", plainDecimal),
	optional("taxIsAfterDiscount", boolean),
	optional("totalTaxTypeCode", upTo(3)),
	optional("purchaserVATRegistrationNumber", upTo(21)),
	optional("merchantVATRegistrationNumber", upTo(21)),
	optional("vatInvoiceReferenceNumber", upTo(15)),
	optional("purchaserCode", upTo(17)),
	optional("summaryCommodityCode", upTo(4)),
	optional("purchaseOrderDateUTC", date),
	optional("supplierOrderReference", upTo(25)),
	optional("authorizedContactName", upTo(36)),
	optional("cardAcceptorRefNumber", upTo(25)),
	optional("amexDataTAA1", upTo(40)),
	optional("amexDataTAA2", upTo(40)),
	optional("amexDataTAA3", upTo(40)),
	optional("amexDataTAA4", upTo(40)),
)

var lineItem = sequence(
	required("itemId", text(1, 31)),
	required("name", text(1, 31)),
	optional("description", upTo(255)),
	required("quantity", moneyAmount),
	required("unitPrice", moneyAmount),
	optional("taxable", boolean),
	optional("unitOfMeasure", upTo(12)),
	optional("typeOfSupply", upTo(2)),
	optional("taxRate", taxRate),
	optional("taxAmount", plainDecimal),
	optional("nationalTax", plainDecimal),
	optional("localTax", plainDecimal),
	optional("vatRate", taxRate),
	optional("alternateTaxId", upTo(20)),
	optional("alternateTaxType", upTo(4)),
	optional("alternateTaxTypeApplied", upTo(4)),
	optional("alternateTaxRate", taxRate),
	optional("alternateTaxAmount", plainDecimal),
	optional("totalAmount", plainDecimal),
	optional("commodityCode", upTo(15)),
	optional("productCode", upTo(30)),
	optional("productSKU", upTo(30)),
	optional("discountRate", taxRate),
	optional("discountAmount", plainDecimal),
	optional("taxIncludedInTotal", boolean),
	optional("taxIsAfterDiscount", boolean),
)

var extendedAmount = sequence(
	required("amount", moneyAmount),
	optional("name", upTo(31)),
	optional("description", upTo(255)),
)

var otherTax = sequence(
	optional("nationalTaxAmount", plainDecimal),
	optional("localTaxAmount", plainDecimal),
	optional("alternateTaxAmount", plainDecimal),
	optional("alternateTaxId", upTo(15)),
	optional("vatTaxRate", taxRate),
	optional("vatTaxAmount", plainDecimal),
)
