package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Order holds the goods, the amounts and the addresses of a payment.
type Order struct {
	AmountDetails   AmountDetails   `json:"amountDetails"`
	BillTo          Person          `json:"billTo"`
	ShipTo          Person          `json:"shipTo"`
	LineItems       []LineItem      `json:"lineItems"`
	InvoiceDetails  InvoiceDetails  `json:"invoiceDetails"`
	ShippingDetails ShippingDetails `json:"shippingDetails"`
}

// AmountDetails are amounts in major units as the client wrote them.
type AmountDetails struct {
	TotalAmount    Text `json:"totalAmount"`
	Currency       Text `json:"currency"`
	DiscountAmount Text `json:"discountAmount"`
	DutyAmount     Text `json:"dutyAmount"`
	TaxAmount      Text `json:"taxAmount"`
	FreightAmount  Text `json:"freightAmount"`
	// ServiceFeeAmount is charged in addition to the total, by a second payment.
	ServiceFeeAmount Text `json:"serviceFeeAmount"`
	// TaxDetails holds further taxes.
	TaxDetails []TaxDetail `json:"taxDetails"`
}

// TaxDetail is one tax.
type TaxDetail struct {
	Type   Text `json:"type"`
	Amount Text `json:"amount"`
}

// Person is a person's name and address.
type Person struct {
	FirstName          Text    `json:"firstName"`
	LastName           Text    `json:"lastName"`
	Company            Company `json:"company"`
	Address1           Text    `json:"address1"`
	Address2           Text    `json:"address2"`
	Locality           Text    `json:"locality"`
	AdministrativeArea Text    `json:"administrativeArea"`
	PostalCode         Text    `json:"postalCode"`
	Country            Text    `json:"country"`
	Email              Text    `json:"email"`
	PhoneNumber        Text    `json:"phoneNumber"`
}

// Company is a company's name: the text itself, or the member "name" of an object.
type Company string

// UnmarshalJSONFrom reads either form.
func (c *Company) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		return (*Text)(c).UnmarshalJSONFrom(dec)
	}
	var object struct {
		Name Text `json:"name"`
	}
	if err := json.UnmarshalDecode(dec, &object); err != nil {
		return err
	}
	*c = Company(object.Name)
	return nil
}

// LineItem is one item of an order.
type LineItem struct {
	ProductCode        Text `json:"productCode"`
	ProductName        Text `json:"productName"`
	ProductSKU         Text `json:"productSku"`
	ProductDescription Text `json:"productDescription"`
	Quantity           Text `json:"quantity"`
	UnitPrice          Text `json:"unitPrice"`
	TotalAmount        Text `json:"totalAmount"`
	TaxAmount          Text `json:"taxAmount"`
}

// InvoiceDetails are the numbers of the merchant's documents.
type InvoiceDetails struct {
	InvoiceNumber       Text `json:"invoiceNumber"`
	PurchaseOrderNumber Text `json:"purchaseOrderNumber"`
	Taxable             Text `json:"taxable"`
}

// ShippingDetails hold the shipping method.
type ShippingDetails struct {
	ShippingMethod Text `json:"shippingMethod"`
}
