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

// Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state to the end.
func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	customer := must(v1("POST", "/v1/customers", map[string]any{
		"reference": "go-" + now, "kind": "individual", "phone": "+91-9" + now[7:16],
	}))["id"]
	must(call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus", map[string]any{
		"customerId": customer, "status": "BASIC_KYC_COMPLETED",
	}))
	wallet := must(v1("POST", fmt.Sprintf("/v1/customers/%v/destinations", customer), map[string]any{
		"kind": "address", "chain": "matic20", "address": "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
	}))["id"]

	// The amount received is fixed here; payAmount fixes the other side.
	quote := must(v1("POST", "/v1/quotes", map[string]any{
		"payAsset": "inr", "receiveAsset": "usdc.matic20", "receiveAmount": "50",
	}))
	order := must(v1("POST", "/v1/orders", map[string]any{
		"quoteId": quote["id"], "customerId": customer, "destinationId": wallet,
	}))
	pay, payment := order["pay"].(map[string]any), order["payment"].(map[string]any)
	fmt.Printf("order %v: transfer %v INR with the reference %v\n", order["id"], pay["amount"], payment["reference"])

	// The sandbox's customer pays: a bank transfer that carries the reference.
	must(call("POST", "/sandbox/v1/pay", map[string]any{"transactionId": order["id"]}))
	for must(v1("GET", fmt.Sprintf("/v1/orders/%v", order["id"]), nil))["state"] != "settled" {
		time.Sleep(time.Second)
	}
	fmt.Println("settled: 50 USDC are at the address")
}
