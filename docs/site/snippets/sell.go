package main

import (
	"fmt"
	"log"
	"strconv"
	"time"
)

func must[T any](data T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// Sells 100 USDC for rupees: a customer, a destination, a quote, an order, and its state until the money has arrived.
func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	customer := must(v1("POST", "/v1/customers", map[string]any{
		"reference": "go-" + now, // your own id of this customer
		"kind":      "individual",
		"phone":     "+91-9" + now[7:16], // one phone is one customer
	}))["id"]
	// Only the sandbox verifies on request; elsewhere the customer opens the link of
	// POST /v1/customers/<id>/verification-link.
	must(call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus", map[string]any{
		"customerId": customer, "status": "BASIC_KYC_COMPLETED",
	}))
	account := must(v1("POST", fmt.Sprintf("/v1/customers/%v/destinations", customer), map[string]any{
		"kind": "account", "asset": "inr", "accountNumber": "000111222333", "ifsc": "HDFC0000001",
	}))["id"]

	quote := must(v1("POST", "/v1/quotes", map[string]any{
		"payAsset": "usdc.matic20", "receiveAsset": "inr", "payAmount": "100",
	}))
	order := must(v1("POST", "/v1/orders", map[string]any{
		"quoteId": quote["id"], "customerId": customer, "destinationId": account,
	}))
	payment := order["payment"].(map[string]any)
	fmt.Printf("order %v: send 100 USDC to %v\n", order["id"], payment["address"])

	// The sandbox's customer pays: a token transfer on its chain.
	must(call("POST", "/sandbox/v1/pay", map[string]any{"transactionId": order["id"]}))
	for must(v1("GET", fmt.Sprintf("/v1/orders/%v", order["id"]), nil))["state"] != "settled" {
		time.Sleep(time.Second)
	}
	fmt.Println("settled: paid to the bank account")
}
